/** Pings and replies the server has seen being posted. Bookkeeping: what is no such line is text like any other. */
import type { PairingDirection } from '../../contract/types.ts';
import { insertInto } from '../db/rows.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

export type MarkRow = {
  request_id: string;
  generation: number;
  direction: PairingDirection;
  kind: 'ping' | 'reply';
  seq: number;
  ping_seq: number | null;
};

export const insertMark = insertInto<MarkRow>('pairing_marks');

/** All marks of these requests, of every generation. */
export const marksOf = async (tx: ReadTx, requestIds: string[]): Promise<MarkRow[]> =>
  requestIds.length === 0
    ? []
    : tx.query<MarkRow>((db) => db('pairing_marks').whereIn('request_id', requestIds).orderBy('seq').select('*'));

export const clearMarks = (tx: WriteTx, requestId: string): Promise<number> =>
  tx.change((db) => db('pairing_marks').where('request_id', requestId).delete());
