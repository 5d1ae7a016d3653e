import { BaseCommand, listFlags } from '../../cli/base.ts';
import { stayingAt } from '../../cli/session/open-session.ts';
import { answer, object } from '../../cli/shapes.ts';
import { allRows } from '../../client/pages.ts';
import { revisionRows } from '../approval/lib/approval-text.ts';

export const json = () => object({ revisions: answer('listAllowanceRevisions').shape.revisions });

export default class AllowanceHistory extends BaseCommand<typeof AllowanceHistory> {
  static override summary = 'Show how your allowance changed';
  static override description =
    'Newest first, with what it was changed with: your key, a browser, or an allowed request.';
  static override examples = ['service allowance history', 'service allowance history --ndjson'];
  static override seeAlso = ['allowance show', 'allowance set'];
  static override flags = { ...listFlags };

  override async run(): Promise<void> {
    const session = await this.session('P');
    const { client, server } = session;
    const revisions = await allRows(client, 'listAllowanceRevisions', 'revisions', { query: { limit: 100 } });
    await this.printList<typeof json>({ revisions }, revisions, {
      of: server.url,
      rows: () => revisionRows(revisions, this.times),
      empty: `Let agents do something without asking: service allowance set add-people on${stayingAt(session)}`,
    });
  }
}
