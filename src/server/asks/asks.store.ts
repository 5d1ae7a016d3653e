/** Asks: whom a message asks what, and its latest answer. What it says stands in the message. */
import type { Knex } from 'knex';
import { insertInto, rowBy, rowsOver } from '../db/rows.ts';
import { listStatement, type Value } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { MemberRow } from '../members/member.rules.ts';
import { type MessageReader, readable } from '../messages/readable.rules.ts';

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
  tx.query<AskRow>((db) =>
    db('asks')
      .whereIn('task_id', taskIds)
      .where('blocking', 1)
      .whereNull('answer_seq')
      .orderBy(['at', 'seq'])
      .select('*'),
  );

/** What is left out is null. */
export const insertAsk = insertInto<Partial<AskRow>>('asks');

export const askOf = rowBy<AskRow>('asks', 'message_id');

/** Notes the latest answer, or that the ask was withdrawn. */
export const saveAnswer = (
  tx: WriteTx,
  messageId: string,
  answer: Pick<AskRow, 'answer_seq' | 'answer_option' | 'withdrawn'>,
): Promise<number> => tx.change((db) => db('asks').where('message_id', messageId).update(answer));

/** An ask with who asks, who is asked, and the task it is about. */
export type AskWithContext = AskRow & {
  from_kind: MemberRow['kind'];
  from_person_id: string;
  from_status: MemberRow['status'];
  to_name: string;
  to_kind: MemberRow['kind'];
  to_role: string | null;
  to_harness: string | null;
  to_handle: string;
  task_ref: string | null;
  task_title: string | null;
  /** The event that asked, as in the record; null unless it was asked for. */
  posted_actor: string | null;
  posted_data: string | null;
};

/** Only where an answer is shown with the words of its option is the question itself read too: it may be long. */
const withContext = (posted: boolean) =>
  rowsOver<AskWithContext>((db, ids) => {
    const query = db({ a: 'asks' })
      .join({ f: 'members' }, 'f.id', 'a.from_id')
      .join({ t: 'members' }, 't.id', 'a.to_id')
      .join({ tp: 'people' }, 'tp.id', 't.person_id')
      .leftJoin({ k: 'tasks' }, 'k.id', 'a.task_id')
      .whereIn('a.message_id', ids)
      .select('a.*', {
        from_kind: 'f.kind',
        from_person_id: 'f.person_id',
        from_status: 'f.status',
        to_name: 't.name',
        to_kind: 't.kind',
        to_role: 't.role',
        to_harness: 't.harness',
        to_handle: 'tp.handle',
        task_ref: 'k.ref',
        task_title: 'k.title',
        posted_actor: posted ? 'e.actor' : db.raw('NULL'),
        posted_data: posted ? 'e.data' : db.raw('NULL'),
      });
    return posted
      ? query.leftJoin({ e: 'events' }, (on) => on.on('e.board_id', 'a.board_id').andOn('e.seq', 'a.seq'))
      : query;
  });
const withoutPosted = withContext(false);
const withPosted = withContext(true);

/** The asks of these messages, in one statement. @param posted with the events that asked. */
export const asksOf = (tx: ReadTx, messageIds: string[], posted: boolean): Promise<AskWithContext[]> =>
  (posted ? withPosted : withoutPosted)(tx, messageIds);

const openAsks = (db: Knex, side: 'from_id' | 'to_id', memberIds: Value[], now: Value) =>
  db('asks')
    .whereIn(side, memberIds as string[])
    .whereNull('answer_seq')
    .where((either) => either.whereNull('going_at').orWhere('going_at', '>', now as number))
    .groupBy(side, 'blocking')
    .select({ side: db.raw(side === 'to_id' ? "'to'" : "'from'"), member_id: side, blocking: 'blocking' })
    .count({ count: '*' });

type Counted = { side: 'from' | 'to'; member_id: string; blocking: number; count: number };

const openStatement = listStatement<{ now: number }, Counted>((db, p, memberIds) =>
  db.unionAll([openAsks(db, 'from_id', memberIds, p.now), openAsks(db, 'to_id', memberIds, p.now)]),
);

/** How many asks are open now that each of these members asked, and that are addressed to them: blocking ones, others. */
export async function countOpenAsks(tx: ReadTx, memberIds: readonly string[]) {
  const counts = new Map(memberIds.map((id) => [id, { own: 0, blocking: 0, going_with: 0 }]));
  for (const { side, member_id, blocking, count } of await tx.all(...openStatement.over({ now: tx.now }, memberIds))) {
    const of = side === 'from' ? 'own' : blocking === 1 ? 'blocking' : 'going_with';
    const known = counts.get(member_id);
    if (known) known[of] += Number(count);
  }
  return counts;
}

export interface AskFilter {
  boardIds: string[];
  reader: MessageReader;
  state: 'open' | 'answered' | 'withdrawn' | 'went_with' | 'all';
  taskId?: string;
  toIds?: string[];
  fromIds?: string[];
  /** Member ids of somebody who may answer: asked themselves, or the person of an asking agent. */
  answererIds?: string[];
  /** Those that block first; newest first in each group. */
  blockingFirst: boolean;
}

type AskPosition = readonly [blocking: number, at: number, id: string];

/** Asks whose message may be read, newest first. */
export const listAskRows = (tx: ReadTx, filter: AskFilter, after: AskPosition | null, limit: number) =>
  tx.query<AskRow>((db) => {
    const query = readable(
      db({ a: 'asks' }).join({ m: 'messages' }, 'm.id', 'a.message_id').whereIn('a.board_id', filter.boardIds),
      filter.reader,
    );
    inState(query, filter.state, tx.now);
    if (filter.taskId !== undefined) query.where('a.task_id', filter.taskId);
    if (filter.toIds) query.whereIn('a.to_id', filter.toIds);
    if (filter.fromIds) query.whereIn('a.from_id', filter.fromIds);
    if (filter.answererIds) answerableBy(query, db, filter.answererIds);
    if (filter.blockingFirst) query.orderBy('a.blocking', 'desc');
    if (after && filter.blockingFirst) query.whereRaw('(a.blocking, a.at, a.message_id) < (?, ?, ?)', after);
    else if (after) query.whereRaw('(a.at, a.message_id) < (?, ?)', after.slice(1));
    return query
      .orderBy([
        { column: 'a.at', order: 'desc' },
        { column: 'a.message_id', order: 'desc' },
      ])
      .limit(limit)
      .select('a.*');
  });

/** The states of asks.rules.ts, as a condition. */
function inState(query: Knex.QueryBuilder, state: AskFilter['state'], now: number): void {
  if (state === 'all') return;
  query.where('a.withdrawn', state === 'withdrawn' ? 1 : 0);
  if (state === 'withdrawn') return;
  if (state === 'answered') query.whereNotNull('a.answer_seq');
  else query.whereNull('a.answer_seq');
  if (state === 'went_with') query.where('a.going_at', '<=', now);
  if (state === 'open') query.where((open) => open.whereNull('a.going_at').orWhere('a.going_at', '>', now));
}

function answerableBy(query: Knex.QueryBuilder, db: Knex, ids: string[]): void {
  const persons = db({ p: 'members' }).whereIn('p.id', ids).where('p.kind', 'human').select('p.person_id');
  query.where('a.withdrawn', 0).where((either) =>
    either.whereIn('a.to_id', ids).orWhereExists(
      // Looked up by the asker's id: a person may have thousands of seats that ended.
      db({ f: 'members' })
        .whereRaw('f.id = a.from_id')
        .where('f.kind', 'agent')
        .whereIn('f.person_id', persons)
        .select(db.raw('1')),
    ),
  );
}
