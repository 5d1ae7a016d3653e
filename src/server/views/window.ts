/** Paging a list that is ordered by `seq`, in both directions. */

/** Most bytes of JSON in one page; at least one item is always given. */
const PAGE_BYTES = 1_048_576;

export interface Window {
  /** Exclusive. */
  after: number;
  /** Exclusive; null: no end. */
  before: number | null;
  limit: number;
  /** Fill the page from the newest end. */
  newest: boolean;
}

interface Source<Row, Item> {
  rows(window: { after: number; before: number | null }, order: 'asc' | 'desc', limit: number): Promise<Row[]>;
  /** Whether anything of the list lies in the window. */
  any(window: { after: number; before: number | null }): Promise<boolean>;
  view(rows: Row[]): Promise<Item[]>;
  seq(item: Item): number;
  /** Characters of stored text behind a row: tells cheaply that a page is far below its limit of bytes. */
  weight(row: Row): number;
}

export interface Page<Item> {
  items: Item[];
  /** The last number of the page if anything of the list follows it, also beyond the window. */
  next_after: number | null;
  /** The first number of the page if anything of the list precedes it, also below the window. */
  prev_before: number | null;
}

/** One page, oldest first. Both cursors are null exactly at the ends of the list, and on an empty page. */
export async function pageOf<Row, Item>(source: Source<Row, Item>, window: Window): Promise<Page<Item>> {
  const order = window.newest ? 'desc' : 'asc';
  const rows = await source.rows(window, order, window.limit + 1);
  const wanted = rows.slice(0, window.limit);
  const items = surelyFits(wanted, source) ? await source.view(wanted) : await composed(wanted, source);
  const cut = items.length < rows.length;
  if (window.newest) items.reverse();
  const first = items[0];
  const last = items.at(-1);
  if (first === undefined || last === undefined) return { items, next_after: null, prev_before: null };

  const follows = (!window.newest && cut) || (await source.any({ after: source.seq(last), before: null }));
  const precedes = (window.newest && cut) || (await source.any({ after: 0, before: source.seq(first) }));
  return {
    items,
    next_after: follows ? source.seq(last) : null,
    prev_before: precedes ? source.seq(first) : null,
  };
}

/**
 * The leading records that stay within one page's bytes. Composing them takes longer than reading them, so few others are;
 * what lies behind a row may be far more than is shown of it.
 */
async function composed<Row, Item>(rows: Row[], source: Source<Row, Item>): Promise<Item[]> {
  const items: Item[] = [];
  let room = PAGE_BYTES;
  while (items.length < rows.length) {
    for (const item of await source.view(fitting(rows.slice(items.length), source.weight, room))) {
      room -= bytesOfJson(item);
      if (room < 0 && items.length > 0) return items;
      items.push(item);
    }
  }
  return items;
}

/** A character takes at most six bytes of JSON; the rest of a record stays below 4 KiB. */
const surelyFits = <Row>(rows: Row[], source: Pick<Source<Row, unknown>, 'weight'>): boolean =>
  rows.reduce((sum, row) => sum + source.weight(row) * 6 + 4096, 0) < PAGE_BYTES;

/**
 * The leading items that stay within so many bytes, those of one page by default; at least one.
 * @param bytesOf what counts of an item; default: its JSON.
 */
export function fitting<Item>(items: Item[], bytesOf: (item: Item) => number = bytesOfJson, room = PAGE_BYTES): Item[] {
  if (items.length === 1) return items;
  let bytes = 0;
  const end = items.findIndex((item, index) => {
    bytes += bytesOf(item);
    return index > 0 && bytes > room;
  });
  return end === -1 ? items : items.slice(0, end);
}

const bytesOfJson = (item: unknown): number => Buffer.byteLength(JSON.stringify(item));
