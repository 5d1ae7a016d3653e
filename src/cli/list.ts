/** Reads a list that a command shows page by page, or whole. */

import type { Output } from '../../../../cli/output.ts';
import { Failure } from '../../../../local/failure.ts';

export interface ListOptions {
  limit?: number | undefined;
  after?: string | undefined;
  all?: boolean;
}

/** What is told of a list that is too long to show whole. */
export interface TooMany {
  message: (most: number) => string;
  hint: string;
}

const MOST = 5000;

/**
 * The page asked for, or every page with --all; --ndjson prints the rows as they are read, all unless --limit is given.
 * @returns the rows with the last page; null where they are printed. @throws Failure `too_many_results`
 */
export async function readList<Row extends object, Page extends { next_after: string | null }>(
  out: Output,
  { limit, after: first, all }: ListOptions,
  list: { read: (after: string | undefined, limit: number | undefined) => Promise<Page>; rows: (page: Page) => Row[] },
  { message, hint }: TooMany,
): Promise<{ rows: Row[]; page: Page } | null> {
  const everything = all || (out.mode === 'ndjson' && limit === undefined);
  const rows: Row[] = [];
  for (let after = first; ; ) {
    const page = await list.read(after, limit ?? (everything ? 200 : undefined));
    const printed = out.listed(list.rows(page));
    if (!printed) rows.push(...list.rows(page));
    if (rows.length > MOST) throw new Failure('too_many_results', message(MOST), { hint });
    after = page.next_after ?? undefined;
    if (!everything || after === undefined) return printed ? null : { rows, page };
  }
}
