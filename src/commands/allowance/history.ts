import { BaseCommand } from '../../cli/base.ts';
import { listFlags } from '../../cli/flags.ts';
import { answer, object } from '../../cli/shapes.ts';
import { rowsOr } from '../../cli/terminal/table.ts';
import { pages } from '../../client/pages.ts';
import type { Answer } from '../../contract/types.ts';
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
    const { client, server } = await this.session('P');
    const revisions: Answer<'listAllowanceRevisions'>['revisions'] = [];
    for await (const page of pages(client, 'listAllowanceRevisions', { query: { limit: 100 } }))
      revisions.push(...page.revisions);
    if (this.out.listed(revisions)) return;
    const rows = await revisionRows(revisions, this.times);
    this.print<typeof json>({ revisions }, () =>
      [
        `${server.url} · ${revisions.length}`,
        ...rowsOr(rows, 'Let agents do something without asking: service allowance set'),
      ].join('\n'),
    );
  }
}
