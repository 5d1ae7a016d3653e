/** Pings and replies the server has seen being posted. Bookkeeping: what is no such line is text like any other. */
import type { PairingDirection } from '../../contract/types.ts';
import { insertInto, rowsOver } from '../db/rows.ts';

export type MarkRow = {
  request_id: string;
  generation: number;
  direction: PairingDirection;
  kind: 'ping' | 'reply';
  seq: number;
  ping_seq: number | null;
};

export const insertMark = insertInto<MarkRow>('pairing_marks');

/** All marks of these requests, of every generation: only those of the current one prove anything. */
export const marksOf = rowsOver<MarkRow>((db, requestIds) =>
  db('pairing_marks').whereIn('request_id', requestIds).orderBy('seq').select('*'),
);
