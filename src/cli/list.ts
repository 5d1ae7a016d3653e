/** Lists that a command shows page by page, or whole. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Repeat } from '../client/pages.ts';
import { waitWhenLimited } from '../client/rate-limit.ts';
import { shellArgument } from '../contract/text.ts';
import { Failure } from '../local/failure.ts';
import { booleanFlag, limitFlag, stringFlag } from './flags.ts';
import type { Output } from './output.ts';
import { called } from './runtime.ts';

/** On lists that are shown a page at a time. */
export const pageFlags = (max?: number) => ({
  limit: limitFlag(max),
  after: stringFlag('POSITION', 'The next page, as the last one names it'),
});

/** On those of them that are also shown whole. */
export const wholeListFlags = (max?: number) => ({
  ...pageFlags(max),
  all: booleanFlag('Follow every page', { char: 'A', exclusive: ['after'] }),
});

interface ListOptions {
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
 * @param key under which a page holds its rows. @param tooMany for a list that has --all
 * @returns the rows with the last page; null where they are printed. @throws Failure `too_many_results`
 */
export async function readList<Key extends string, Row extends object, Page extends { next_after: string | null }>(
  out: Output,
  { limit, after: first, all }: ListOptions,
  key: Key,
  read: (after: string | undefined, limit: number | undefined) => Promise<Page & Record<Key, Row[]>>,
  tooMany?: TooMany,
): Promise<{ rows: Row[]; page: Page } | null> {
  const everything = all || (out.mode === 'ndjson' && limit === undefined);
  const rows: Row[] = [];
  for (let after = first; ; ) {
    const page = everything ? await patiently(out)(() => read(after, limit ?? 200)) : await read(after, limit);
    const printed = out.listed(page[key]);
    if (!printed) rows.push(...page[key]);
    if (tooMany && rows.length > MOST)
      throw new Failure('too_many_results', tooMany.message(MOST), { hint: tooMany.hint });
    after = page.next_after ?? undefined;
    if (!everything || after === undefined) return printed ? null : { rows, page };
  }
}

/** Sends a request of several, or an upload, and says how long it waits where the server takes no more for now. */
export const patiently = (out: Output, attempts?: number): Repeat =>
  waitWhenLimited(async (seconds) => {
    out.note(`The server takes no more requests for ${seconds} s; the rest follows then.`, { always: true });
    await sleep(seconds * 1000);
  }, attempts);

/** What a list says besides its items. */
export interface ListWords {
  /** What to do where there are none. */
  empty?: string;
  /** What else to do. */
  next?: string | false | undefined;
}

/** A list as text: its heading, the rows or what to do where there are none, then what else to do, if anything. */
export function listText(heading: string, rows: readonly string[], { empty, next }: ListWords = {}): string {
  const body = rows.length === 0 && empty ? [called(empty)] : rows;
  return [heading, ...body, ...(next ? [called(next)] : [])].join('\n');
}

/** The server, board and agent that were named, for a command to type next. */
export const sameWords = (flags: object): string => flagWords(flags, ['server', 'board', 'as']);

/** Those of these flags that were given, as they are typed, with a space before each. */
export const flagWords = (flags: object, names: readonly string[]): string =>
  names
    .map((name) => [name, (flags as Record<string, unknown>)[name]])
    .map(([name, value]) => {
      if (!value) return '';
      return value === true ? ` --${name}` : ` --${name} ${shellArgument(String(value))}`;
    })
    .join('');
