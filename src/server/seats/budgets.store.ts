/** Budgets of seats: what their people set, and what is left. */
import type { Budget } from '../../contract/types.ts';
import { rowBy, rowsBy, writeInto } from '../db/rows.ts';
import { statement } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { MemberRow } from '../members/member.rules.ts';
import { type Brake, type Bucket, REPEATS_MS } from './budget.rules.ts';

type Row = {
  member_id: string;
  /** JSON of the limits; null: the usual ones. */
  wakes: string | null;
  /** JSON of the limit; null: none. */
  cost: string | null;
  /** JSON of what is left of each limit of wakes. */
  buckets: string;
  /** JSON of what is left of the cost; null: all of it. */
  cost_bucket: string | null;
};

export interface SeatBudget {
  /** Null: the usual limits. */
  wakes: Budget['wakes'] | null;
  cost: Budget['cost'];
  buckets: Bucket[];
  costBucket: Bucket | null;
}

const noBudget: SeatBudget = { wakes: null, cost: null, buckets: [], costBucket: null };

const rowOf = rowBy<Row>('seat_budgets', 'member_id');
const rowsOf = rowsBy<Row>('seat_budgets', 'member_id');
const saveRow = writeInto<Row>('seat_budgets', ['member_id']);

/** The budget of a seat. For a change of it the seat's row is locked. */
export async function budgetOf(tx: ReadTx, memberId: string): Promise<SeatBudget> {
  const row = await rowOf(tx, memberId);
  return row ? parsed(row) : noBudget;
}

/** The budgets that were set or used, by seat. */
export async function budgetsOf(tx: ReadTx, memberIds: string[]): Promise<Map<string, SeatBudget>> {
  return new Map((await rowsOf(tx, memberIds)).map((row) => [row.member_id, parsed(row)]));
}

const parsed = ({ wakes, cost, buckets, cost_bucket: costBucket }: Row): SeatBudget => ({
  wakes: wakes === null ? null : (JSON.parse(wakes) as Budget['wakes']),
  cost: cost === null ? null : (JSON.parse(cost) as Budget['cost']),
  buckets: JSON.parse(buckets) as Bucket[],
  costBucket: costBucket === null ? null : (JSON.parse(costBucket) as Bucket),
});

export const saveBudget = (tx: WriteTx, memberId: string, { wakes, cost, buckets, costBucket }: SeatBudget) =>
  saveRow(tx, {
    member_id: memberId,
    wakes: wakes && JSON.stringify(wakes),
    cost: cost && JSON.stringify(cost),
    buckets: JSON.stringify(buckets),
    cost_bucket: costBucket && JSON.stringify(costBucket),
  });

const brakeReadingStatement = statement<{ id: string; read_up_to: number; until: number; now: number }>((db, p) =>
  db('members')
    .where({ id: p.id, status: 'active', read_up_to: p.read_up_to })
    .where((free) => free.whereNull('braked_until').orWhere('braked_until', '<=', p.now))
    .update({ braked_until: p.until, braked_reason: 'reads', braked_at: p.now }),
);

/** Brakes an active seat for its reads while its position is this one and nothing else brakes it; answers how many it braked. */
export const brakeReading = (tx: WriteTx, { id, read_up_to }: Pick<MemberRow, 'id' | 'read_up_to'>, until: number) =>
  tx.run(brakeReadingStatement, { id, read_up_to, until, now: tx.now });

const addReadsStatement = statement<{ id: string; read_up_to: number; count: number; since: number; over: number }>(
  (db, p) =>
    db('members')
      .where({ id: p.id, status: 'active', read_up_to: p.read_up_to })
      .update({
        reads: db.raw('CASE WHEN reads_since > ? THEN reads + ? ELSE ? END', [p.over, p.count, p.count]),
        reads_since: db.raw('CASE WHEN reads_since > ? THEN reads_since ELSE ? END', [p.over, p.since]),
      }),
);

/** Adds waiting reads to those of an active seat that is still at this position. */
export async function addReads(
  tx: WriteTx,
  { id, read_up_to }: Pick<MemberRow, 'id' | 'read_up_to'>,
  { count, since }: { count: number; since: number },
): Promise<void> {
  await tx.run(addReadsStatement, { id, read_up_to, count, since, over: tx.now - REPEATS_MS });
}

interface BrakedAgent extends Brake {
  id: string;
  name: string;
  board_id: string;
  board_name: string;
  braked_until: number;
}

/**
 * A person's active agents that are braked at `now`, on active boards. Those that only people wake are told of only where they
 * acknowledge nothing: nothing else that brakes them keeps anything from them.
 */
export const brakedAgents = (tx: ReadTx, personId: string): Promise<BrakedAgent[]> =>
  tx.query((db) =>
    db({ m: 'members' })
      .join({ b: 'boards' }, 'b.id', 'm.board_id')
      .where({ 'm.person_id': personId, 'm.kind': 'agent', 'm.status': 'active', 'b.lifecycle': 'active' })
      .where('m.braked_until', '>', tx.now)
      .where((either) =>
        either
          .whereNull('m.delivery_mode')
          .orWhereNotIn('m.delivery_mode', ['humans', 'off'])
          .orWhere('m.braked_reason', 'reads'),
      )
      .select('m.id', 'm.name', 'm.board_id', 'm.braked_until', 'm.braked_reason', 'm.braked_at', {
        board_name: 'b.name',
      }),
  );
