import { BaseCommand, required } from '../../cli/base.ts';
import { warnOfLoopback } from '../invite/lib/invite.ts';
import { approvalText } from './lib/approval-text.ts';
import { collected } from './lib/approvals.ts';
import { approvalOutcome } from './lib/shapes.ts';

export const json = () => approvalOutcome;

export default class ApprovalCollect extends BaseCommand<typeof ApprovalCollect> {
  static override aliases = ['approvals collect'];
  static override summary = 'Collect the invite that was allowed';
  static override description =
    'Only the agent that asked for it, once. If the answer was lost, the same command on this machine shows it again\nfor ten minutes; after that its person revokes the invite and the agent asks for a new one.';
  static override examples = ['service approval collect apr_01K5A0000000000000000000A1 --as claude'];
  static override seeAlso = ['approval show', 'invite revoke'];
  static override args = { approval: required('Id of the request') };

  override async run(): Promise<void> {
    const session = await this.session('G');
    const outcome = await collected(session, this.args.approval);
    warnOfLoopback(this.out, outcome.invite?.invite);
    this.print<typeof json>(
      outcome,
      () => approvalText(outcome, { times: this.times, agent: true }),
      outcome.invite?.invite,
    );
  }
}
