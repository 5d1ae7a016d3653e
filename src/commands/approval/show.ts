import { BaseCommand, booleanFlag, required } from '../../cli/base.ts';
import { warnOfLoopback } from '../invite/lib/invite.ts';
import { approvalText } from './lib/approval-text.ts';
import { collected } from './lib/approvals.ts';
import { approvalOutcome } from './lib/shapes.ts';

export const json = () => approvalOutcome;

export default class ApprovalShow extends BaseCommand<typeof ApprovalShow> {
  static override aliases = ['approvals show'];
  static override summary = 'Show one request of an agent';
  static override description =
    'The agent that asked also collects an invite that was allowed and waits for it: its link is shown once.\nWith --no-collect it only looks.';
  static override examples = [
    'service approval show apr_01K5A0000000000000000000A1',
    'service approval show apr_01K5A0000000000000000000A1 --no-collect',
  ];
  static override seeAlso = ['approval list', 'approval collect', 'approval allow'];
  static override args = { approval: required('Id of the request') };
  static override flags = { 'no-collect': booleanFlag('Only look') };

  override async run(): Promise<void> {
    const session = await this.session('A');
    const { approval } = this.args;
    const { data } = await session.client.call('getApproval', { params: { approval } });
    const waits = ['held', 'collected'].includes(data.approval.outcome.state);
    const collects = session.agent && !this.flags['no-collect'] && waits;
    const outcome = collects ? await collected(session, approval) : data;
    warnOfLoopback(this.out, outcome.invite?.invite);
    this.print<typeof json>(
      outcome,
      () => approvalText(outcome, { times: this.times, agent: session.agent }),
      outcome.invite?.invite,
    );
  }
}
