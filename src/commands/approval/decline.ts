import { required, WriteCommand } from '../../cli/base.ts';
import { answer, object, text } from '../../cli/shapes.ts';
import { actionWords } from './lib/approval-text.ts';

export const json = () => object({ state: text, approval: answer('declineApproval') });

export default class ApprovalDecline extends WriteCommand<typeof ApprovalDecline> {
  static override aliases = ['approvals decline'];
  static override summary = 'Decline what an agent asked for';
  static override description = 'Nothing is done, and the agent is told.';
  static override examples = ['service approval decline apr_01K5A0000000000000000000A1'];
  static override seeAlso = ['approval list', 'approval allow'];
  static override args = { approval: required('Id of the request') };

  override async run(): Promise<void> {
    const { client } = await this.session('P');
    const params = { approval: this.args.approval };
    const { data: approval, again } = await this.write(client, 'declineApproval', { params });
    this.print<typeof json>({ state: approval.state, approval }, () => `Declined: ${actionWords(approval)}${again}.`);
  }
}
