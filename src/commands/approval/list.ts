import { BaseCommand, choiceFlag, listFlags } from '../../cli/base.ts';
import { stayingAt } from '../../cli/session/open-session.ts';
import { answer, object } from '../../cli/shapes.ts';
import { approvalRows } from './lib/approval-text.ts';
import { allApprovals } from './lib/approvals.ts';

const NONE = 'Your agents ask for nothing. What they may do without asking: service allowance show';

export const json = () => object({ approvals: answer('listApprovals').shape.approvals });

export default class ApprovalList extends BaseCommand<typeof ApprovalList> {
  static override aliases = ['approvals', 'approvals list'];
  static override summary = 'List what agents asked their person for';
  static override description =
    'A person sees the requests of all their agents, an agent its own: pending ones first, decided ones for seven days.';
  static override examples = ['service approval list', 'service approvals --state pending --json'];
  static override seeAlso = ['approval show', 'approval allow', 'approval decline', 'allowance show'];
  static override flags = {
    state: choiceFlag(['pending', 'decided', 'all'], 'Only those in this state'),
    ...listFlags,
  };

  override async run(): Promise<void> {
    const session = await this.session('A');
    const approvals = await allApprovals(session, this.flags.state);
    const pending = !session.agent && approvals.some(({ state }) => state === 'pending');
    await this.printList<typeof json>({ approvals }, approvals, {
      of: session.server.url,
      rows: () => approvalRows(approvals, this.times),
      empty: session.agent ? 'You asked for nothing that needs an approval.' : NONE + stayingAt(session),
      next: pending && `Allow one: service approval allow ID${stayingAt(session)}`,
    });
  }
}
