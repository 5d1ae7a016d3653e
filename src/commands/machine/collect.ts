import { BaseCommand, optional } from '../../cli/base.ts';
import { collectedKey } from '../../cli/shapes.ts';
import { collectKey, printApprovalSteps, waitingRequest } from './lib/machine-key.ts';

export const json = () => collectedKey;

export default class MachineCollect extends BaseCommand<typeof MachineCollect> {
  static override summary = 'Fetch the key this machine asked for';
  static override description =
    'Goes on with a request that was detached or interrupted: waits for the approval and saves the key.';
  static override examples = ['service machine collect', 'service machine collect https://team.example.com'];
  static override seeAlso = ['machine request', 'machine approve'];
  static override args = { url: optional('Address of the server, where several requests wait') };

  override async run(): Promise<void> {
    await this.requirePerson();
    const { out, deps } = this;
    const waiting = waitingRequest(this.args.url);
    const { code = '', expires_at, handle } = waiting.pending;
    if (Date.parse(expires_at) > Date.now())
      printApprovalSteps({ origin: waiting.origin, handle, code, expires_at }, out.quiet);
    const { record, text, next } = await collectKey(waiting, { ...deps, noInput: true });
    out.print(record, () => `${text}\n${next}`);
  }
}
