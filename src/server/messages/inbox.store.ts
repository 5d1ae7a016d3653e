/** Inboxes and read positions: whom messages name, what is unread, what is owed. */
import { statement } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

export interface Woken {
  count: number;
  urgent: number;
}

const wokenStatement = statement<
  { member_id: string; after: number; reads_all: number },
  { count: number; urgent: number | null }
>((db, p) =>
  db('message_members')
    .where('member_id', p.member_id)
    .where('seq', '>', p.after)
    .where('wakes', 1)
    .whereRaw('(addressed = 1 OR ? = 1)', [p.reads_all])
    .select({ count: db.raw('COUNT(*)'), urgent: db.raw('SUM(urgent)') }),
);

/** Messages after a position that name this agent, mentions included where it may read them. */
export const wokenSince = async (tx: ReadTx, memberId: string, after: number, readsAll: boolean): Promise<Woken> => {
  const row = await tx.first(wokenStatement, { member_id: memberId, after, reads_all: readsAll ? 1 : 0 });
  return { count: Number(row?.count ?? 0), urgent: Number(row?.urgent ?? 0) };
};

const unreadStatement = statement<
  { board_id: string; member_id: string; after: number; reads_all: number },
  { count: number; urgent: number | null; everyone: number }
>((db, p) =>
  db('message_members')
    .where('member_id', p.member_id)
    .where('seq', '>', p.after)
    .where('wakes', 1)
    .whereRaw('(addressed = 1 OR ? = 1)', [p.reads_all])
    .select({
      count: db.raw('COUNT(*)'),
      urgent: db.raw('SUM(urgent)'),
      everyone: db('messages')
        .where({ board_id: p.board_id, urgent: 1, to_everyone: 1 })
        .where('seq', '>', p.after)
        .whereNot('sender_id', p.member_id)
        .count('*') as never,
    }),
);

/** What names the agent after a position, and how much that is urgent has come: to it, and to everyone by others. */
export const unreadSince = async (
  tx: ReadTx,
  of: { boardId: string; memberId: string; after: number; readsAll: boolean },
): Promise<Woken> => {
  const row = await tx.first(unreadStatement, {
    board_id: of.boardId,
    member_id: of.memberId,
    after: of.after,
    reads_all: of.readsAll ? 1 : 0,
  });
  return { count: Number(row?.count ?? 0), urgent: Number(row?.urgent ?? 0) + Number(row?.everyone ?? 0) };
};

/** With their senders: what is to everyone is the same for all who have read as far, who leave out their own. */
const everyoneStatement = statement<
  { board_id: string; after: number; urgent: number; limit: number },
  { seq: number; sender_id: string }
>((db, p) =>
  db.raw(
    'SELECT seq, sender_id FROM messages WHERE board_id = ? AND to_everyone = 1 AND seq > ? AND urgent >= ? ORDER BY seq LIMIT ?',
    [p.board_id, p.after, p.urgent, p.limit],
  ),
);
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

/** Numbers of the messages in an agent's inbox after a number, ascending, at most `limit`. */
export const inboxSeqs = async (
  tx: ReadTx,
  of: {
    boardId: string;
    eyes: { memberId: string; readsAll: boolean };
    after: number;
    urgentOnly: boolean;
    /** False: it is known that no message after the position names the agent. */
    named?: boolean;
    limit: number;
  },
): Promise<number[]> => {
  const urgent = of.urgentOnly ? 1 : 0;
  const { memberId, readsAll } = of.eyes;
  const everyone = await toEveryoneAfter(tx, of.boardId, memberId, { after: of.after, urgent, limit: of.limit });
  if (of.named === false) return everyone.map((row) => row.seq);
  const woken = await tx.all(wokenSeqsStatement, {
    member_id: memberId,
    after: of.after,
    reads_all: readsAll ? 1 : 0,
    urgent,
    limit: of.limit,
  });
  return [...everyone, ...woken]
    .map((row) => row.seq)
    .sort((a, b) => a - b)
    .slice(0, of.limit);
};

/** Messages to everyone by others, as far as one page of them goes. */
async function toEveryoneAfter(
  tx: ReadTx,
  boardId: string,
  me: string,
  page: { after: number; urgent: number; limit: number },
): Promise<{ seq: number }[]> {
  const rows = await tx.all(everyoneStatement, { board_id: boardId, ...page });
  const others = rows.filter((row) => row.sender_id !== me);
  if (others.length === rows.length || rows.length < page.limit) return others;
  // Own ones took the place of others.
  return tx.all(byOthersStatement, { board_id: boardId, me, ...page });
}

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
export const openRequests = async (tx: ReadTx, memberIds: string[]): Promise<{ member_id: string; count: number }[]> =>
  memberIds.length === 0
    ? []
    : tx.query((db) =>
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

/** A member replied directly to a message that expected it. */
export const clearRequest = (tx: WriteTx, memberId: string, seq: number): Promise<number> =>
  tx.run(answeredStatement, { member_id: memberId, seq });

export interface NamedRow {
  member_id: string;
  seq: number;
  addressed: number;
  mentioned: number;
  wakes: number;
  urgent: number;
  awaits: number;
}

export const insertNamed = (tx: WriteTx, rows: NamedRow[]): Promise<number> =>
  rows.length === 0 ? Promise.resolve(0) : tx.change((db) => db('message_members').insert(rows));
