/** Where each day with messages begins on a board, so that counts of days are differences and never counts of rows. */
import { DAY } from '../../contract/durations.ts';
import { insertInto } from '../db/rows.ts';
import type { ReadTx } from '../db/tx.ts';

/** Days since the epoch, in UTC. */
export const dayOf = (ms: number): number => Math.floor(ms / DAY);

type DayRow = {
  board_id: string;
  day: number;
  /** Messages before the first of this day. */
  before: number;
};

export const insertDay = insertInto<DayRow>('message_days');

/** The days of these boards from one on, oldest first. */
export const daysFrom = (tx: ReadTx, boardIds: string[], day: number): Promise<DayRow[]> =>
  tx.query<DayRow>((db) =>
    db('message_days').whereIn('board_id', boardIds).where('day', '>=', day).orderBy(['board_id', 'day']).select('*'),
  );
