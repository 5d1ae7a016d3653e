/** Event rows. They are only ever inserted; the database itself refuses anything else. */
import type { Knex } from 'knex';
import { insertion, statement } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

export type EventRow = {
  board_id: string;
  seq: number;
  id: string;
  type: string;
  /** Milliseconds since the epoch. */
  at: number;
  /** JSON of the actor as frozen at append. */
  actor: string;
  /** Canonical JSON, as hashed. */
  data: string;
  data_hash: Buffer;
  prev_hash: Buffer;
  hash: Buffer;
};

const inserting = insertion<EventRow>('events');

export const insertEvent = (tx: WriteTx, row: EventRow): Promise<void> => tx.send(inserting(row), row);

interface EventWindow {
  boardId: string;
  /** Exclusive. */
  after: number;
  /** Exclusive; null: no end. */
  before: number | null;
  types?: string[];
}

/** Most events that a live reader is given at once, and the bytes of data after which no other is added. */
const PAGE = 200;
const PAGE_BYTES = 262_144;

// Raw, because the builder takes no parameter for a limit. Only the lengths of the data that is left out are read.
const afterStatement = statement<{ board_id: string; after: number }, EventRow>((db, p) =>
  db.raw(
    `SELECT * FROM events WHERE board_id = ? AND seq > ? AND seq <= (
      SELECT MAX(seq) FROM (
        SELECT seq, SUM(bytes) OVER (ORDER BY seq) - bytes AS ahead FROM (
          SELECT seq, OCTET_LENGTH(data) AS bytes FROM events WHERE board_id = ? AND seq > ? ORDER BY seq LIMIT ${PAGE}
        ) AS page
      ) AS sized WHERE ahead < ${PAGE_BYTES}
    ) ORDER BY seq`,
    [p.board_id, p.after, p.board_id, p.after],
  ),
);

/** A page of events after a number, oldest first: what a live reader asks for. */
export const eventsAfter = (tx: ReadTx, boardId: string, after: number): Promise<EventRow[]> =>
  tx.all(afterStatement, { board_id: boardId, after });

/** A page of a window, in the order asked for. */
export const eventsIn = (tx: ReadTx, window: EventWindow, order: 'asc' | 'desc', limit: number): Promise<EventRow[]> =>
  tx.query<EventRow>((db) => {
    const { boardId, after, before, types } = window;
    const page = (): Knex.QueryBuilder => {
      const events = db('events').where('board_id', boardId).where('seq', '>', after);
      if (before !== null) events.where('seq', '<', before);
      return events.orderBy('seq', order).limit(limit);
    };
    if (!types) return page();
    if (types.includes('message.posted')) return page().whereIn('type', types);
    // A page of each type, by the index that leaves out messages: other types may be rare in a long record.
    const rare = types.map((type) => {
      const ofType = page().where('type', type).whereRaw("type <> 'message.posted'").select('seq');
      return db.from(ofType.as('of_type')).select('seq');
    });
    const found = db.union(rare).orderBy('seq', order).limit(limit);
    return db('events').where('board_id', boardId).whereIn('seq', found).orderBy('seq', order);
  });
