import { required, WriteCommand } from '../../cli/base.ts';
import { answer, object } from '../../cli/shapes.ts';

export const json = () => object({ code: answer('listJoinCodes').shape.join_codes.element });

export default class CodeRevoke extends WriteCommand<typeof CodeRevoke> {
  static override summary = 'Revoke a join code';
  static override description = 'Nobody comes onto the board by it any more. Agents that came by it stay.';
  static override examples = ['service code revoke jc_01K5A0000000000000000000J1 --board review'];
  static override seeAlso = ['code list', 'agent create'];
  static override args = { code: required('Id of the code, as code list shows it') };

  override async run(): Promise<void> {
    const { client, board } = await this.onBoard('A');
    const params = { board, code_id: this.args.code };
    const { data: code, again } = await this.write(client, 'revokeJoinCode', { params });
    this.print<typeof json>({ code }, () => {
      if (code.state !== 'revoked') return `${code.id} had ended before: ${code.state}.`;
      return `Revoked ${code.id} on ${board}: it brings nobody any more.${again}`;
    });
  }
}
