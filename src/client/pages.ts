/** Whole lists, page by page. */
import type { OperationName } from '../contract/operations.ts';
import type { Answer } from '../contract/types.ts';
import type { CallInput, Client } from './client.ts';
import { unexpected } from './errors.ts';

interface Paged {
  next_after: string | number | null;
}

/** The operations whose answers name the next page; some answer something else when they are asked for one record. */
export type PagedName = {
  [Name in OperationName]: Extract<Answer<Name>, Paged> extends never ? never : Name;
}[OperationName];

/** One page of such an operation. */
export type Page<Name extends PagedName> = Extract<Answer<Name>, Paged>;

/** Does something that can fail, once or several times. */
export type Repeat = <Result>(send: () => Promise<Result>) => Promise<Result>;

interface Cursors {
  next_after: string | number | null;
  next_hidden_after?: string | null;
  boards?: { name: string }[];
  hidden_boards?: { id: string }[];
}
type Query = NonNullable<CallInput<PagedName>['query']>;

/**
 * Yields the pages of a list, forward, from the one that `input` asks for to the last one. Page size and filters are
 * those of `input.query`.
 *
 * @param request sends the request for a page, and may do so again where it failed
 * @throws ClientError as `call` does, and `server_unexpected` for a cursor that does not move on.
 */
export async function* pages<Name extends PagedName>(
  client: Client,
  name: Name,
  input: CallInput<Name> = {},
  request: Repeat = (send) => send(),
): AsyncGenerator<Page<Name>, void, void> {
  let query: Query = input.query ?? {};
  for (;;) {
    const { data } = await request(() => client.call(name, { ...input, query }));
    yield data as Page<Name>;
    const cursors = data as Cursors;
    if ((cursors.next_after ?? null) === null && (cursors.next_hidden_after ?? null) === null) return;
    const next = nextQuery(query, cursors);
    if (next['after'] === query['after'] && next['hidden_after'] === query['hidden_after']) {
      throw unexpected('The list does not move on to its next page.', { details: { operation: name } });
    }
    query = next;
  }
}

type Row<List> = List extends readonly (infer One)[] ? One : never;

/** A list as one page, the last with the rows of all. @param key under which an answer holds them */
export async function wholeList<Name extends PagedName, Key extends keyof Page<Name>>(
  client: Client,
  name: Name,
  key: Key,
  input: CallInput<Name> = {},
): Promise<Page<Name>> {
  const rows: Row<Page<Name>[Key]>[] = [];
  let last: Page<Name> | undefined;
  for await (const page of pages(client, name, input)) {
    rows.push(...(page[key] as typeof rows));
    last = page;
  }
  return { ...(last as Page<Name>), [key]: rows };
}

/** The rows of every page. */
export const allRows = async <Name extends PagedName, Key extends keyof Page<Name>>(
  client: Client,
  name: Name,
  key: Key,
  input: CallInput<Name> = {},
): Promise<Row<Page<Name>[Key]>[]> => (await wholeList(client, name, key, input))[key] as Row<Page<Name>[Key]>[];

/** Boards and hidden boards are two lists in one answer: the cursor of a complete list stays after its last record. */
function nextQuery(query: Query, page: Cursors): Query {
  const next: Query = { ...query, after: page.next_after ?? page.boards?.at(-1)?.name ?? query['after'] };
  const hidden = page.next_hidden_after ?? page.hidden_boards?.at(-1)?.id;
  return hidden === undefined ? next : { ...next, hidden_after: hidden };
}
