/** What waits in the queues of agents' own programs, as their daemons reported it. */
import { statement } from '../db/statement.ts';
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

const queueStatement = statement<{ member_id: string }, QueueRow>((db, p) =>
  db('seat_queues').where('member_id', p.member_id).select('*'),
);

export const queueOf = (tx: ReadTx, memberId: string): Promise<QueueRow | undefined> =>
  tx.first(queueStatement, { member_id: memberId });

/** Reports of these seats that still count. */
export const liveQueues = (tx: ReadTx, memberIds: string[]): Promise<QueueRow[]> =>
  tx.query<QueueRow>((db) =>
    db('seat_queues').whereIn('member_id', memberIds).where('expires_at', '>', tx.now).select('*'),
  );

/** Writes a seat's report whole. The seat's row is locked, so nobody else writes it. */
export const saveQueue = (tx: WriteTx, row: QueueRow): Promise<number> =>
  tx.change((db) => db('seat_queues').insert(row).onConflict('member_id').merge());

/** With its seat a report ends. */
export const endQueues = (tx: WriteTx, memberIds: string[]): Promise<number> =>
  tx.change((db) => db('seat_queues').whereIn('member_id', memberIds).delete());

export const messagesIn = ({ messages }: QueueRow): QueuedMessage[] => JSON.parse(messages) as QueuedMessage[];
