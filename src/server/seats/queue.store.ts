/** What waits in the queues of agents' own programs, as their daemons reported it. */
import { rowBy, writeInto } from '../db/rows.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

export interface QueuedMessage {
  message_id: string;
  seq: number;
}

export type QueueRow = {
  member_id: string;
  /** Grows with every reporter that takes over. */
  epoch: number;
  /** Grows with every report of one reporter. */
  revision: number;
  session: string;
  boot: string;
  /** JSON of the messages. */
  messages: string;
  expires_at: number;
};

export const queueOf = rowBy<QueueRow>('seat_queues', 'member_id');

/** Reports of these seats that still count. */
export const liveQueues = (tx: ReadTx, memberIds: string[]): Promise<QueueRow[]> =>
  tx.query<QueueRow>((db) =>
    db('seat_queues').whereIn('member_id', memberIds).where('expires_at', '>', tx.now).select('*'),
  );

/** Writes a seat's report whole. The seat's row is locked, so nobody else writes it. */
export const saveQueue = writeInto<QueueRow>('seat_queues', ['member_id']);

/** With its seat a report ends. */
export const endQueues = (tx: WriteTx, memberIds: string[]): Promise<number> =>
  tx.change((db) => db('seat_queues').whereIn('member_id', memberIds).delete());

export const messagesIn = ({ messages }: QueueRow): QueuedMessage[] => JSON.parse(messages) as QueuedMessage[];
