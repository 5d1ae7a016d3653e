/** Inboxes and read positions: whom messages name, what is unread, what is owed. */
import type { Knex } from 'knex';
import { inParts, rowsOver } from '../db/rows.ts';
import { statement } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { MessageReader } from '../messages/readable.rules.ts';

export interface WakingCounts {
  count: number;
  urgent: number;
}

interface NamedCount {
  member_id: string;
  count: number;
  urgent: number | null;
  addressed: number | null;
  addressed_urgent: number | null;
}

/** What names each of them, then what is urgent to everyone by others. */
const readUnread = rowsOver<NamedCount>((db, ids) => {
  const naming = db({ m: 'members' })
    .join({ x: 'message_members' }, (on) => on.on('x.member_id', 'm.id').andOn('x.seq', '>', 'm.read_up_to'))
    .whereIn('m.id', ids)
    .where('x.wakes', 1)
    .groupBy('m.id')
    .select({
      member_id: 'm.id',
      count: db.raw('COUNT(*)'),
      urgent: db.raw('SUM(x.urgent)'),
      addressed: db.raw('SUM(x.addressed)'),
      addressed_urgent: db.raw('SUM(x.addressed * x.urgent)'),
    });
  const toEveryone = db({ m: 'members' })
    .join({ e: 'messages' }, (on) => on.on('e.board_id', 'm.board_id').andOn('e.seq', '>', 'm.read_up_to'))
    .whereIn('m.id', ids)
    .where({ 'e.urgent': 1, 'e.to_everyone': 1 })
    .whereNot('e.sender_id', db.ref('m.id'))
    .groupBy('m.id')
    .select({
      member_id: 'm.id',
      count: db.raw('0'),
      urgent: db.raw('COUNT(*)'),
      addressed: db.raw('0'),
      addressed_urgent: db.raw('COUNT(*)'),
    });
  return db.unionAll([naming, toEveryone]);
});

/**
 * For each of these agents what names it after its read position, mentions included where it may read them, and how much
 * that is urgent has come: to it, and to everyone by others.
 */
export async function unreadOf(tx: ReadTx, agents: readonly { memberId: string; readsAll: boolean }[]) {
  const ids = agents.map((agent) => agent.memberId);
  const rows = Map.groupBy(await readUnread(tx, ids), (row) => row.member_id);
  return new Map(
    agents.map(({ memberId, readsAll }) => {
      const woken = { count: 0, urgent: 0 };
      for (const row of rows.get(memberId) ?? []) {
        woken.count += Number((readsAll ? row.count : row.addressed) ?? 0);
        woken.urgent += Number((readsAll ? row.urgent : row.addressed_urgent) ?? 0);
      }
      return [memberId, woken];
    }),
  );
}

const toEveryoneWhere = (wanted: string) =>
  statement<{ board_id: string; after: number; limit: number }, { seq: number; sender_id: string }>((db, p) =>
    db.raw(`SELECT seq, sender_id FROM messages WHERE board_id = ? AND ${wanted} AND seq > ? ORDER BY seq LIMIT ?`, [
      p.board_id,
      p.after,
      p.limit,
    ]),
  );
const everyoneStatement = toEveryoneWhere('to_everyone = 1');
// A constant, which lets it be read from the index of what is urgent.
const urgentStatement = toEveryoneWhere('to_everyone = 1 AND urgent = 1');
const byOthersStatement = statement<
  { board_id: string; after: number; me: string; urgent: number; limit: number },
  { seq: number }
>((db, p) =>
  db.raw(
    'SELECT seq FROM messages WHERE board_id = ? AND to_everyone = 1 AND seq > ? AND sender_id <> ? AND urgent >= ? ORDER BY seq LIMIT ?',
    [p.board_id, p.after, p.me, p.urgent, p.limit],
  ),
);
const wokenSeqsStatement = statement<
  { member_id: string; after: number; reads_all: number; urgent: number; limit: number },
  { seq: number }
>((db, p) =>
  db.raw(
    'SELECT seq FROM message_members WHERE member_id = ? AND seq > ? AND wakes = 1 AND (addressed = 1 OR ? = 1) AND urgent >= ? ORDER BY seq LIMIT ?',
    [p.member_id, p.after, p.reads_all, p.urgent, p.limit],
  ),
);

export interface InboxPage {
  boardId: string;
  /** Only messages after this number. */
  after: number;
  urgentOnly: boolean;
  limit: number;
}

/** The messages to everyone of one page, with their senders: the same for all agents that have read as far. */
export const toEveryone = (tx: ReadTx, { boardId, after, urgentOnly, limit }: InboxPage) =>
  tx.all(urgentOnly ? urgentStatement : everyoneStatement, { board_id: boardId, after, limit });

/**
 * Numbers of the messages in an agent's inbox, ascending, at most `limit`.
 * @param everyone what is to everyone on this page; @param named false: it is known that no message names the agent.
 */
export async function inboxSeqs(
  tx: ReadTx,
  { memberId, readsAll }: MessageReader,
  page: InboxPage,
  everyone: readonly { seq: number; sender_id: string }[],
  named = true,
): Promise<number[]> {
  const { boardId, after, limit } = page;
  const bounds = { after, urgent: page.urgentOnly ? 1 : 0, limit };
  const others = everyone.filter((row) => row.sender_id !== memberId);
  // On a full page own ones took the place of others.
  const cut = others.length < everyone.length && everyone.length === limit;
  const fromOthers = cut ? await tx.all(byOthersStatement, { board_id: boardId, me: memberId, ...bounds }) : others;
  const seqs = fromOthers.map((row) => row.seq);
  if (!named) return seqs;
  const woken = await tx.all(wokenSeqsStatement, { member_id: memberId, reads_all: readsAll ? 1 : 0, ...bounds });
  return [...seqs, ...woken.map((row) => row.seq)].sort((a, b) => a - b).slice(0, limit);
}

interface WakingIn extends Pick<InboxPage, 'boardId' | 'after'> {
  /** The last number that is looked at; default: all after that one. */
  upTo?: number;
  /** Only those of people. */
  people: boolean;
}

/** The newest message of an agent's inbox after a number that wakes it; 0: none does. */
export const newestWakingAfter = async (
  tx: ReadTx,
  reader: MessageReader,
  { boardId, after, upTo, people }: WakingIn,
): Promise<number> => {
  const rows = await tx.query<{ seq: number | null }>((db) => {
    const all = waking(db({ m: 'messages' }), reader, after);
    const newest = (upTo === undefined ? all : all.where('m.seq', '<=', upTo))
      .orderBy('m.seq', 'desc')
      .limit(1)
      .select('m.seq');
    if (!people) return newest.where('m.board_id', boardId);
    // Of each person by itself: agents may have written very much since.
    const ofPerson = newest.where('m.sender_id', db.ref('s.id')).as('seq');
    const ofPeople = db({ s: 'members' }).where({ board_id: boardId, kind: 'human' }).select(ofPerson);
    return db.from(ofPeople.as('newest')).max({ seq: 'seq' });
  });
  return rows[0]?.seq ?? 0;
};

/** Keeps the messages after a number that wake this agent. */
const waking = (query: Knex.QueryBuilder, { memberId, readsAll }: MessageReader, after: number) =>
  query
    .where('m.held', 0)
    .where('m.seq', '>', after)
    .whereNot('m.sender_id', memberId)
    .where((either) =>
      either.where('m.to_everyone', 1).orWhereExists((named) =>
        named
          .from({ n: 'message_members' })
          .whereRaw('n.seq = m.seq')
          .where({ 'n.member_id': memberId, 'n.wakes': 1, ...(readsAll ? {} : { 'n.addressed': 1 }) })
          .select('n.seq'),
      ),
    );

const countsAtStatement = statement<{ board_id: string; up_to: number }, { nth: number; nth_everyone: number }>(
  (db, p) =>
    db.raw('SELECT nth, nth_everyone FROM messages WHERE board_id = ? AND seq <= ? ORDER BY seq DESC LIMIT 1', [
      p.board_id,
      p.up_to,
    ]),
);
const sentAtStatement = statement<
  { sender_id: string; up_to: number },
  { nth_of_sender: number; nth_everyone_of_sender: number }
>((db, p) =>
  db.raw(
    'SELECT nth_of_sender, nth_everyone_of_sender FROM messages WHERE sender_id = ? AND seq <= ? ORDER BY seq DESC LIMIT 1',
    [p.sender_id, p.up_to],
  ),
);

/** The running counts of board and member at a number. */
export const countsAt = async (tx: ReadTx, boardId: string, memberId: string, upTo: number) => {
  const board = await tx.first(countsAtStatement, { board_id: boardId, up_to: upTo });
  const sent = await tx.first(sentAtStatement, { sender_id: memberId, up_to: upTo });
  return {
    read_count: board?.nth ?? 0,
    read_everyone_count: board?.nth_everyone ?? 0,
    read_sent_count: sent?.nth_of_sender ?? 0,
    read_sent_everyone_count: sent?.nth_everyone_of_sender ?? 0,
  };
};

/** How many replies these members still owe. */
export const openRequests = rowsOver<{ member_id: string; count: number }>((db, memberIds) =>
  db('message_members')
    .whereIn('member_id', memberIds)
    .where('awaits', 1)
    .groupBy('member_id')
    .select('member_id')
    .count({ count: '*' }),
);

const answeredStatement = statement<{ member_id: string; seq: number }>((db, p) =>
  db('message_members').where({ member_id: p.member_id, seq: p.seq, awaits: 1 }).update({ awaits: 0 }),
);

/** A member replied directly to a message that expected it, or nothing is expected any more. */
export const clearRequest = (tx: WriteTx, memberId: string, seq: number): Promise<number> =>
  tx.run(answeredStatement, { member_id: memberId, seq });

export interface NamedRow {
  member_id: string;
  seq: number;
  addressed: number;
  mentioned: number;
  /** 1: the message is in the member's inbox because of this row. 2: it is there as one to everyone; its mention wakes. */
  wakes: number;
  urgent: number;
  awaits: number;
}

export const insertNamed = (tx: WriteTx, rows: NamedRow[]): Promise<number> =>
  inParts(rows, (part) => tx.change((db) => db('message_members').insert(part)));
