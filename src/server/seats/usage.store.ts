/** What programs of agents said that they used: a row for each seat and day. */
import { DAY } from '../../contract/durations.ts';
import { listStatement } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

/** Null: no report of that day told it. */
export type UsageRow = {
  member_id: string;
  /** When the day began, in UTC. */
  day: number;
  turns: number;
  input_tokens: number | null;
  output_tokens: number | null;
  /** Millionths of a US dollar. */
  cost_micros: number | null;
};

/** When the day of this moment began, in UTC. */
const dayOf = (now: number): number => now - (now % DAY);

const KEPT_MS = 30 * DAY;

/** Adds to what was used today, and forgets days long past. The seat's row is locked, so nobody else adds to it. */
export async function addUsage(tx: WriteTx, memberId: string, used: Omit<UsageRow, 'member_id' | 'day'>) {
  const day = dayOf(tx.now);
  const [before] = await usageOf(tx, [memberId]);
  if (!before)
    await tx.change((db) =>
      db('seat_usage')
        .where('member_id', memberId)
        .where('day', '<', day - KEPT_MS)
        .delete(),
    );
  const sum = (a: number | null | undefined, b: number | null): number | null =>
    b === null ? (a ?? null) : (a ?? 0) + b;
  const row: UsageRow = {
    member_id: memberId,
    day,
    turns: (before?.turns ?? 0) + used.turns,
    input_tokens: sum(before?.input_tokens, used.input_tokens),
    output_tokens: sum(before?.output_tokens, used.output_tokens),
    cost_micros: sum(before?.cost_micros, used.cost_micros),
  };
  await tx.change((db) => db('seat_usage').insert(row).onConflict(['member_id', 'day']).merge());
  return row;
}

const ofStatement = listStatement<{ day: number }, UsageRow>((db, p, memberIds) =>
  db('seat_usage')
    .whereIn('member_id', memberIds as string[])
    .where('day', p.day)
    .select('*'),
);

/** What these seats used today. */
export const usageOf = async (tx: ReadTx, memberIds: string[]): Promise<UsageRow[]> =>
  memberIds.length === 0 ? [] : tx.all(...ofStatement.over({ day: dayOf(tx.now) }, memberIds));
