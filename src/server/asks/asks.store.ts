/** Asks: whom a message asks what, and its latest answer. What it says stands in the message. */
import type { ReadTx, WriteTx } from '../db/tx.ts';

export type AskRow = {
  message_id: string;
  board_id: string;
  seq: number;
  at: number;
  from_id: string;
  to_id: string;
  task_id: string | null;
  blocking: number;
  going_at: number | null;
  /** Of the latest answer or withdrawal; null: there is none. */
  answer_seq: number | null;
  answer_option: number | null;
  withdrawn: number;
};

/** Asks that block these tasks now, oldest first. */
export const openBlockingAsks = (tx: ReadTx, taskIds: string[]): Promise<AskRow[]> =>
  taskIds.length === 0
    ? Promise.resolve([])
    : tx.query<AskRow>((db) =>
        db('asks')
          .whereIn('task_id', taskIds)
          .where('blocking', 1)
          .whereNull('answer_seq')
          .orderBy(['at', 'seq'])
          .select('*'),
      );

export const insertAsk = (tx: WriteTx, row: AskRow): Promise<number> => tx.change((db) => db('asks').insert(row));

export const askOf = async (tx: ReadTx, messageId: string): Promise<AskRow | undefined> => {
  const [row] = await tx.query<AskRow>((db) => db('asks').where('message_id', messageId).select('*'));
  return row;
};

/** Notes the latest answer, or that the ask was withdrawn. */
export const saveAnswer = (
  tx: WriteTx,
  messageId: string,
  answer: Pick<AskRow, 'answer_seq' | 'answer_option' | 'withdrawn'>,
): Promise<number> => tx.change((db) => db('asks').where('message_id', messageId).update(answer));
