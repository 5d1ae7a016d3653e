/** Threads by their newest reply. */
import type { Knex } from 'knex';
import type { ReadTx } from '../db/tx.ts';
import { type MessageReader, readable } from './readable.rules.ts';

export interface Thread {
  root_seq: number;
  /** Number of the newest reply this reader may read. */
  newest: number;
}

/** How many replies are looked at in one go where not all may be read. */
const STRIDE = 500;

/**
 * Threads whose root and at least one reply are readable, newest reply first, whose newest readable reply is before
 * `before`. Readers with all rights are served by an index; others walk back through the replies that they may read.
 */
export async function newestThreads(
  tx: ReadTx,
  boardId: string,
  reader: MessageReader,
  before: number | null,
  limit: number,
): Promise<Thread[]> {
  if (reader.readsAll) return byLastReply(tx, boardId, before, limit);
  const threads: Thread[] = [];
  const seen = new Set<number>();
  for (let end = before; ; ) {
    const replies = await repliesBefore(tx, boardId, reader, end);
    const fresh = new Map<number, number>();
    for (const { root_seq, seq } of replies) {
      if (!seen.has(root_seq) && !fresh.has(root_seq)) fresh.set(root_seq, seq);
    }
    const roots = await readableRoots(tx, boardId, reader, [...fresh.keys()], before);
    for (const [root_seq, newest] of fresh) {
      seen.add(root_seq);
      if (roots.has(root_seq)) threads.push({ root_seq, newest });
      if (threads.length === limit) return threads;
    }
    if (replies.length < STRIDE) return threads;
    end = replies.at(-1)?.seq ?? null;
  }
}

const byLastReply = (tx: ReadTx, boardId: string, before: number | null, limit: number): Promise<Thread[]> =>
  tx.query<Thread>((db) => {
    const query = db('messages')
      .where('board_id', boardId)
      .whereNotNull('last_reply_seq')
      .orderBy('last_reply_seq', 'desc')
      .limit(limit)
      .select({ root_seq: 'seq', newest: 'last_reply_seq' });
    return before === null ? query : query.where('last_reply_seq', '<', before);
  });

const repliesBefore = (tx: ReadTx, boardId: string, reader: MessageReader, before: number | null) =>
  tx.query<{ root_seq: number; seq: number }>((db) => {
    const query = db({ m: 'messages' })
      .where('m.board_id', boardId)
      .whereNotNull('m.root_seq')
      .orderBy('m.seq', 'desc')
      .limit(STRIDE)
      .select('m.root_seq', 'm.seq');
    return readable(before === null ? query : query.where('m.seq', '<', before), reader);
  });

/** Of these roots the readable ones without a readable reply from `before` on: the others were listed on an earlier page. */
async function readableRoots(
  tx: ReadTx,
  boardId: string,
  reader: MessageReader,
  roots: number[],
  before: number | null,
): Promise<Set<number>> {
  if (roots.length === 0) return new Set();
  const rows = await tx.query<{ seq: number }>((db) =>
    readable(db({ m: 'messages' }).where('m.board_id', boardId).whereIn('m.seq', roots), reader).select('m.seq'),
  );
  const found = new Set(rows.map((row) => row.seq));
  if (before === null) return found;
  const later = await tx.query<{ root_seq: number }>((db) =>
    readable(
      db({ m: 'messages' }).where('m.board_id', boardId).whereIn('m.root_seq', roots).where('m.seq', '>=', before),
      reader,
    ).distinct('m.root_seq'),
  );
  for (const { root_seq } of later) found.delete(root_seq);
  return found;
}

/** Who wrote readable replies in these threads, by their first one. */
export const threadSenders = (tx: ReadTx, boardId: string, roots: number[], reader: MessageReader) =>
  tx.query<{ root_seq: number; name: string; first: number }>((db) =>
    readable(
      db({ m: 'messages' })
        .join({ s: 'members' }, 's.id', 'm.sender_id')
        .where('m.board_id', boardId)
        .whereIn('m.root_seq', roots),
      reader,
    )
      .groupBy('m.root_seq', 's.id', 's.name')
      .orderBy('first')
      .select({ root_seq: 'm.root_seq', name: 's.name' })
      .min({ first: 'm.seq' }),
  );

interface ThreadMembers {
  /** Ids of who wrote in the thread or was named there by `@name`, in order of first appearance. */
  ids: string[];
  /** Lists of names that its messages keep, each with the number of one that does. */
  lists: Map<string, number>;
}

/** The members of a thread's readable part, its first message included. */
export async function threadMembers(
  tx: ReadTx,
  boardId: string,
  rootSeq: number,
  reader: MessageReader,
): Promise<ThreadMembers> {
  const thread = (db: Knex) =>
    readable(
      db({ m: 'messages' })
        .where('m.board_id', boardId)
        .where((either) => either.where('m.seq', rootSeq).orWhere('m.root_seq', rootSeq)),
      reader,
    ).min({ first: 'm.seq' });
  const senders = await tx.query<{ who: string; first: number }>((db) =>
    thread(db).groupBy('m.sender_id').select({ who: 'm.sender_id' }),
  );
  const lists = await tx.query<{ who: string | null; first: number; kept_by: number }>((db) => {
    // Not a join: without statistics Postgres reads the whole board for each list.
    const kept = db({ k: 'messages' })
      .where({ 'k.board_id': boardId, 'k.seq': db.ref('g.named_seq') })
      .select('k.named');
    return db
      .from(thread(db).groupBy('m.named', 'm.named_seq').select('m.named', 'm.named_seq').as('g'))
      .select('g.first', {
        who: db.raw('COALESCE(?, g.named)', [kept]),
        kept_by: db.raw('COALESCE(g.named_seq, g.first)'),
      });
  });
  const named = lists.flatMap(({ who, ...row }) => (who === null ? [] : { ...row, who }));
  // Of one message its sender comes before those it names.
  const seen = [...senders.map((row) => ({ ...row, rank: 0 })), ...named.map((row) => ({ ...row, rank: 1 }))].sort(
    (a, b) => Number(a.first) - Number(b.first) || a.rank - b.rank,
  );
  return {
    ids: [...new Set(seen.flatMap(({ who }) => who.split(',')))],
    lists: new Map(named.map((row) => [row.who, Number(row.kept_by)])),
  };
}

export interface ThreadAgent {
  root_seq: number;
  id: string;
  name: string;
  person_id: string;
  handle: string;
  /** Number of its newest message in the thread. */
  last: number;
  /** Number of the newest message by a person in the thread; null: there is none. */
  last_of_person: number | null;
}

/** The active agents that wrote in these threads of a board, by name. */
export const threadAgents = (tx: ReadTx, boardId: string, roots: number[]): Promise<ThreadAgent[]> =>
  tx.query((db) => {
    const byThread = 'COALESCE(m.root_seq, m.seq)';
    const thread = db.raw(byThread);
    const inThreads = (kind: 'agent' | 'human') =>
      db({ m: 'messages' })
        .join({ s: 'members' }, 's.id', 'm.sender_id')
        .where({ 'm.board_id': boardId, 's.kind': kind })
        .where((either) => either.whereIn('m.seq', roots).orWhereIn('m.root_seq', roots));
    const persons = inThreads('human').groupByRaw(byThread).select({ root_seq: thread }).max({ last: 'm.seq' }).as('h');
    return inThreads('agent')
      .join({ p: 'people' }, 'p.id', 's.person_id')
      .leftJoin(persons, 'h.root_seq', thread)
      .where('s.status', 'active')
      .groupByRaw(`${byThread}, s.id, s.name, s.person_id, p.handle, h.last`)
      .orderBy('s.name')
      .select('s.id', 's.name', 's.person_id', 'p.handle', { root_seq: thread, last_of_person: 'h.last' })
      .max({ last: 'm.seq' });
  });
