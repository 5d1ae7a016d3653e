/** The full-text index: documents with their words, and up to where each board's record is in it. */
import type { Knex } from 'knex';
import { lifecycles } from '../../contract/values.ts';
import { firstRow } from '../db/query.ts';
import { insertion, listStatement, type Params } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { type MessageReader, readable } from '../messages/readable.rules.ts';
import { ftsQuery, ftsText, hasPhrase, looseQuery, tsqueryText, vectorOf } from './dialect.rules.ts';
import type { SearchQuery } from './words.rules.ts';

export type Kind = 'message' | 'task' | 'file';

export interface Doc {
  kind: Kind;
  board_id: string;
  /** Id of what was indexed. */
  ref_id: string;
  /** Milliseconds since the epoch. */
  at: number;
  /** Folded words of each searched field. */
  fields: string[][];
}

/** Numbers of documents grow with time, so that the newest are found without sorting. A millisecond holds this many. */
const PER_MS = 1_000;
/** Where those of a kind begin within a millisecond. */
const FIRST: Record<Kind, number> = { file: 0, message: 200, task: 800 };
/** The first number after those of a kind. */
const END: Record<Kind, number> = { file: FIRST.message, message: FIRST.task, task: PER_MS };

const insertingDoc = insertion<{ id: number; kind: Kind; board_id: string; ref_id: string; at: number }>('search_docs');
const insertingWords = insertion<{ rowid: number; words: string }>('search_words');

/** Adds missing documents. The caller holds the lock of the index. */
export async function addDocs(tx: WriteTx, docs: readonly Doc[]): Promise<void> {
  const numbered = await numbersFor(tx, docs);
  if (tx.dialect.name === 'sqlite') {
    for (const { fields, ...doc } of numbered) {
      const words = { rowid: doc.id, words: ftsText(fields) };
      await tx.run(insertingDoc(doc), doc);
      await tx.run(insertingWords(words), words);
    }
  } else if (numbered.length > 0) {
    await tx.change((db) =>
      db('search_docs').insert(
        numbered.map(({ fields, ...row }) => {
          const { words, phrases } = vectorOf(fields);
          return { ...row, words: db.raw('?::tsvector', [words]), phrases };
        }),
      ),
    );
  }
}

/** The highest number taken in each of these ranges, by where they begin: inclusive, and exclusive. */
const lastIn = listStatement<
  Params,
  { first: number | string; last: number | string | null },
  readonly [number, number]
>((db, _p, ranges) => {
  const list = ranges.map(() => '(CAST(? AS bigint), CAST(? AS bigint))').join(', ');
  const last = 'SELECT id FROM search_docs WHERE id >= low AND id < high ORDER BY id DESC LIMIT 1';
  return db.raw(`WITH r (low, high) AS (VALUES ${list}) SELECT low AS first, (${last}) AS last FROM r`, ranges.flat());
});

/** In the order in which they come; documents for which their millisecond has no room go after all others. */
async function numbersFor(tx: WriteTx, docs: readonly Doc[]): Promise<(Doc & { id: number })[]> {
  if (docs.length === 0) return [];
  const ranges = docs.map(({ at, kind }): readonly [number, number] => [
    at * PER_MS + FIRST[kind],
    at * PER_MS + END[kind],
  ]);
  const taken = await tx.all(...lastIn.over({}, ranges));
  const next = new Map(
    taken.map(({ first, last }) => [Number(first), last === null ? Number(first) : Number(last) + 1]),
  );
  const numbered = docs.map((doc, n) => {
    const [first, end] = ranges[n] as readonly [number, number];
    const id = next.get(first) ?? first;
    next.set(first, id + 1);
    return { ...doc, id: id < end ? id : null };
  });
  const full = numbered.some(({ id }) => id === null);
  const highest = full ? await tx.query<{ last: number | string }>((db) => db('search_docs').max({ last: 'id' })) : [];
  let last = Math.max(Number(highest[0]?.last ?? 0), ...numbered.map(({ id }) => id ?? 0));
  return numbered.map((doc) => ({ ...doc, id: doc.id ?? ++last }));
}

/** Takes documents out, if they are in. */
export async function dropDocs(tx: WriteTx, refIds: string[]): Promise<void> {
  if (refIds.length === 0) return;
  if (tx.dialect.name === 'sqlite') {
    await tx.change((db) =>
      db('search_words').whereIn('rowid', db('search_docs').whereIn('ref_id', refIds).select('id')).delete(),
    );
  }
  await tx.change((db) => db('search_docs').whereIn('ref_id', refIds).delete());
}

interface Lag {
  board_id: string;
  /** Everything up to here is in the index. */
  seq: number;
  head_seq: number;
}

/** The boards that a search may look at: that of an agent, or all that a person is on, or the one of them with this name or id. */
export type Searched = { boardId: string } | { personId: string; board?: string | undefined };

/** Boards whose record has grown since they were indexed. @param searched null: all of them. */
export const laggingBoards = (tx: ReadTx, limit: number, searched: Searched | null): Promise<Lag[]> =>
  tx.query<Lag>((db) => {
    const query = db({ b: 'boards' })
      .leftJoin({ p: 'search_progress' }, 'p.board_id', 'b.id')
      .whereIn('b.lifecycle', lifecycles)
      .whereRaw('b.head_seq > COALESCE(p.seq, 0)')
      .limit(limit)
      .select({ board_id: 'b.id', head_seq: 'b.head_seq', seq: db.raw('COALESCE(p.seq, 0)') });
    if (searched === null) return query;
    if ('boardId' in searched) return query.where('b.id', searched.boardId);
    query.whereIn('b.id', boardsOf(searched.personId));
    const { board } = searched;
    return board === undefined ? query : query.where((one) => one.where('b.name', board).orWhere('b.id', board));
  });

/** As a part of a query: the boards that a person is on. */
const boardsOf = (personId: string) => (sub: Knex.QueryBuilder) =>
  sub
    .from({ mine: 'members' })
    .join({ own: 'boards' }, 'own.id', 'mine.board_id')
    .where({ 'mine.person_id': personId, 'mine.kind': 'human', 'mine.status': 'active' })
    .whereIn('own.lifecycle', lifecycles)
    .select('mine.board_id');

export const progressOf = async (tx: ReadTx, boardId: string): Promise<number> =>
  (await firstRow<{ seq: number }>(tx, (db) => db('search_progress').where('board_id', boardId).select('seq')))?.seq ??
  0;

export const saveProgress = (tx: WriteTx, boardId: string, seq: number): Promise<number> =>
  tx.change((db) => db('search_progress').insert({ board_id: boardId, seq }).onConflict('board_id').merge(['seq']));

export interface SearchScope {
  query: SearchQuery;
  /** One board, or all boards a person is on. */
  where: { boardId: string } | { personId: string };
  reader: MessageReader;
  kinds: readonly Kind[];
  /** Only messages by this member. */
  senderId?: string;
  /** Only this task, and messages and files about it. */
  taskId?: string;
  /** Milliseconds since the epoch: inclusive, exclusive. */
  since?: number;
  until?: number;
}

export interface Hit {
  id: number;
  kind: Kind;
  board_id: string;
  ref_id: string;
}

/** Whether the words or the order lead depends on how rare the words are: on Postgres each search has a plan of its own. */
async function planned(tx: ReadTx, build: (db: Knex) => Knex.QueryBuilder): Promise<Hit[]> {
  if (tx.dialect.name === 'sqlite') return tx.query<Hit>(build);
  const plan = (mode: string) => tx.query((db) => db.raw(`SET LOCAL plan_cache_mode = ${mode}`));
  await plan('force_custom_plan');
  const hits = await tx.query<Hit>(build);
  await plan('force_generic_plan');
  return hits;
}

/** Documents found, newest first. @param before only older ones than this. */
export const newestHits = (tx: ReadTx, scope: SearchScope, before: number | null, limit: number): Promise<Hit[]> =>
  planned(tx, (db) => {
    const number = numberIn(tx);
    const query = found(db, tx, scope).orderBy(number, 'desc').limit(limit);
    return before === null ? query : query.where(number, '<', before);
  });

/** Documents found, those first that fit best. @param last the newest message looked at; null: any. */
export const bestHits = (tx: ReadTx, scope: SearchScope, last: number | null, limit: number): Promise<Hit[]> =>
  planned(tx, (db) => {
    // Divided by the logarithm of the length: of what Postgres offers, this comes closest to SQLite's order.
    const rank =
      tx.dialect.name === 'sqlite'
        ? db.raw('w.rank')
        : db.raw('-ts_rank(d.words, ?::tsquery, 1)', [tsqueryText(scope.query)]);
    const number = numberIn(tx);
    const query = found(db, tx, scope)
      .orderBy([{ column: rank as never }, { column: number, order: 'desc' }])
      .limit(limit);
    return last === null
      ? query
      : query.where((either) => either.where(number, '<=', last).orWhereNot('d.kind', 'message'));
  });

/** A document's number by the name under which the leading table has it, or its order is not known to be the one asked for. */
const numberIn = (tx: ReadTx): string => (tx.dialect.name === 'sqlite' ? 'w.rowid' : 'd.id');

function found(db: Knex, tx: ReadTx, scope: SearchScope): Knex.QueryBuilder {
  const { where, kinds, reader, senderId, taskId, since, until } = scope;
  const docs = worded(db, tx, scope);
  docs.select('d.id', 'd.kind', 'd.board_id', 'd.ref_id');
  if (kinds.length < Object.keys(FIRST).length) docs.whereIn('d.kind', kinds);
  if ('boardId' in where) docs.where('d.board_id', where.boardId);
  else docs.whereIn('d.board_id', boardsOf(where.personId));
  // Tasks and files are everybody's on the board; of messages only those that may be read.
  if (!reader.readsAll || senderId !== undefined) {
    docs.where((either) => {
      if (senderId === undefined) either.whereNot('d.kind', 'message');
      either.orWhereExists((sub: Knex.QueryBuilder) => {
        readable(sub.from({ m: 'messages' }).whereRaw('m.id = d.ref_id'), reader).select(db.raw('1'));
        if (senderId !== undefined) sub.where('m.sender_id', senderId);
      });
    });
  }
  if (taskId !== undefined) docs.where((either) => aboutTask(either, taskId));
  if (since !== undefined) docs.where('d.at', '>=', since);
  if (until !== undefined) docs.where('d.at', '<', until);
  return docs;
}

/** Documents with the words. */
function worded(db: Knex, tx: ReadTx, { query }: SearchScope): Knex.QueryBuilder {
  if (tx.dialect.name === 'sqlite') {
    // The index leads: it yields its rows newest first, which no other plan does.
    return db({ w: 'search_words' })
      .joinRaw('CROSS JOIN search_docs d ON d.id = w.rowid')
      .whereRaw('w.words MATCH ?', [ftsQuery(query)]);
  }
  const docs = db({ d: 'search_docs' });
  if (!hasPhrase(query)) return docs.whereRaw('d.words @@ ?::tsquery', [tsqueryText(query)]);
  const loose = looseQuery(query);
  const parts = [
    'd.phrases IS NOT NULL AND d.words @@ ?::tsquery',
    ...loose.wanted.map(() => 'strpos(d.phrases, ?) > 0'),
    ...loose.excluded.map(() => 'strpos(d.phrases, ?) = 0'),
  ];
  return docs.whereRaw(`((d.phrases IS NULL AND d.words @@ ?::tsquery) OR (${parts.join(' AND ')}))`, [
    tsqueryText(query),
    loose.tsquery,
    ...loose.wanted,
    ...loose.excluded,
  ]);
}

function aboutTask(either: Knex.QueryBuilder, taskId: string): void {
  const tagged = (table: string, column: string) => (sub: Knex.QueryBuilder) =>
    sub.from({ x: table }).whereRaw(`x.${column} = d.ref_id`).where('x.task_id', taskId).select(sub.client.raw('1'));
  either
    .where('d.ref_id', taskId)
    .orWhereExists(tagged('message_tasks', 'message_id'))
    .orWhereExists(tagged('file_tasks', 'file_id'));
}
