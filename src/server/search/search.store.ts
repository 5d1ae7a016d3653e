/** The full-text index: documents with their words, and up to where each board's record is in it. */
import type { Knex } from 'knex';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { type Eyes, readable } from '../messages/eyes.rules.ts';
import { ftsQuery, ftsText, tsqueryText, tsvectorText } from './dialect.rules.ts';
import type { SearchQuery } from './words.rules.ts';

export interface Doc {
  kind: 'message';
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

/** Adds documents. Whoever calls holds the index. */
export async function addDocs(tx: WriteTx, docs: readonly Doc[]): Promise<void> {
  const next = new Map<number, number>();
  for (const doc of docs) {
    const id = next.get(doc.at) ?? (await firstFreeId(tx, doc.at));
    next.set(doc.at, id + 1);
    const { fields, ...row } = doc;
    if (tx.dialect.name === 'sqlite') {
      await tx.change((db) => db('search_docs').insert({ ...row, id }));
      await tx.change((db) => db('search_words').insert({ rowid: id, words: ftsText(fields) }));
    } else {
      await tx.change((db) =>
        db('search_docs').insert({ ...row, id, words: db.raw('?::tsvector', [tsvectorText(fields)]) }),
      );
    }
  }
}

async function firstFreeId(tx: WriteTx, at: number): Promise<number> {
  const base = at * PER_MS;
  const [row] = await tx.query<{ last: number | null }>((db) =>
    db('search_docs')
      .where('id', '>=', base)
      .where('id', '<', base + PER_MS)
      .max({ last: 'id' }),
  );
  return row?.last ? Number(row.last) + 1 : base;
}

export interface Lag {
  board_id: string;
  /** Everything up to here is in the index. */
  seq: number;
  head_seq: number;
}

/** Boards whose record has grown since they were indexed. */
export const laggingBoards = (tx: ReadTx, limit: number): Promise<Lag[]> =>
  tx.query<Lag>((db) =>
    db({ b: 'boards' })
      .leftJoin({ p: 'search_progress' }, 'p.board_id', 'b.id')
      .whereNot('b.lifecycle', 'deleted')
      .whereRaw('b.head_seq > COALESCE(p.seq, 0)')
      .limit(limit)
      .select({ board_id: 'b.id', head_seq: 'b.head_seq', seq: db.raw('COALESCE(p.seq, 0)') }),
  );

export const progressOf = async (tx: ReadTx, boardId: string): Promise<number> => {
  const [row] = await tx.query<{ seq: number }>((db) => db('search_progress').where('board_id', boardId).select('seq'));
  return row?.seq ?? 0;
};

export const saveProgress = (tx: WriteTx, boardId: string, seq: number): Promise<number> =>
  tx.change((db) => db('search_progress').insert({ board_id: boardId, seq }).onConflict('board_id').merge(['seq']));

/** Messages of a board after a number, as the record has them. */
export const unindexedMessages = (
  tx: ReadTx,
  boardId: string,
  after: number,
  limit: number,
): Promise<{ id: string; seq: number; at: number; data: string }[]> =>
  tx.query((db) =>
    db({ m: 'messages' })
      .join({ e: 'events' }, (on) => on.on('e.board_id', 'm.board_id').andOn('e.seq', 'm.seq'))
      .where('m.board_id', boardId)
      .where('m.seq', '>', after)
      .orderBy('m.seq')
      .limit(limit)
      .select('m.id', 'm.seq', 'm.at', 'e.data'),
  );

export interface SearchScope {
  query: SearchQuery;
  /** One board, or all boards a person is on. */
  where: { boardId: string } | { personId: string };
  eyes: Eyes;
  senderId?: string;
  /** Only messages about this task. */
  taskId?: string;
  /** Milliseconds since the epoch: inclusive, exclusive. */
  since?: number;
  until?: number;
}

export interface Hit {
  id: number;
  kind: 'message';
  board_id: string;
  seq: number;
}

/** Documents found, newest first. @param before only older ones than this. */
export const newestHits = (tx: ReadTx, scope: SearchScope, before: number | null, limit: number): Promise<Hit[]> =>
  tx.query<Hit>((db) => {
    // The number by the name under which the leading table has it, or its order is not known to be the one asked for.
    const number = tx.dialect.name === 'sqlite' ? 'w.rowid' : 'd.id';
    const query = found(db, tx, scope).orderBy(number, 'desc').limit(limit);
    return before === null ? query : query.where(number, '<', before);
  });

/** Documents found, those first that fit best. */
export const bestHits = (tx: ReadTx, scope: SearchScope, limit: number): Promise<Hit[]> =>
  tx.query<Hit>((db) => {
    const rank =
      tx.dialect.name === 'sqlite'
        ? db.raw('w.rank')
        : db.raw('-ts_rank(d.words, ?::tsquery)', [tsqueryText(scope.query)]);
    return found(db, tx, scope)
      .orderBy([{ column: rank as never }, { column: 'd.id', order: 'desc' }])
      .limit(limit);
  });

function found(
  db: Knex,
  tx: ReadTx,
  { query, where, eyes, senderId, taskId, since, until }: SearchScope,
): Knex.QueryBuilder {
  const docs =
    tx.dialect.name === 'sqlite'
      ? // The index leads: it yields its rows newest first, which no other plan does.
        db({ w: 'search_words' })
          .joinRaw('CROSS JOIN search_docs d ON d.id = w.rowid')
          .joinRaw('CROSS JOIN messages m ON m.id = d.ref_id')
          .whereRaw('w.words MATCH ?', [ftsQuery(query)])
      : db({ d: 'search_docs' })
          .join({ m: 'messages' }, 'm.id', 'd.ref_id')
          .whereRaw('d.words @@ ?::tsquery', [tsqueryText(query)]);
  readable(docs, eyes).select('d.id', 'd.kind', 'd.board_id', 'm.seq');
  if ('boardId' in where) docs.where('d.board_id', where.boardId);
  else {
    docs.whereIn('d.board_id', (sub: Knex.QueryBuilder) =>
      sub
        .from({ mine: 'members' })
        .join({ b: 'boards' }, 'b.id', 'mine.board_id')
        .where({ 'mine.person_id': where.personId, 'mine.kind': 'human', 'mine.status': 'active' })
        .whereNot('b.lifecycle', 'deleted')
        .select('mine.board_id'),
    );
  }
  if (senderId !== undefined) docs.where('m.sender_id', senderId);
  if (taskId !== undefined) {
    docs.whereExists((sub: Knex.QueryBuilder) =>
      sub.from({ x: 'message_tasks' }).whereRaw('x.message_id = m.id').where('x.task_id', taskId).select(db.raw('1')),
    );
  }
  if (since !== undefined) docs.where('d.at', '>=', since);
  if (until !== undefined) docs.where('d.at', '<', until);
  return docs;
}
