/** Message rows: what lists, threads, inboxes and counts need. The text itself is read from the record. */
import type { Knex } from 'knex';
import { listStatement, statement } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

export type MessageRow = {
  id: string;
  board_id: string;
  seq: number;
  at: number;
  sender_id: string;
  reply_to_seq: number | null;
  /** The thread's first message; null for a message that replies to nothing. */
  root_seq: number | null;
  to_everyone: number;
  urgent: number;
  expects_reply: number;
  /** Only on thread starters: replies of any depth. */
  reply_count: number;
  last_reply_at: number | null;
  /** Running counts up to and including this message: on the board, to everyone, by its sender, both. */
  nth: number;
  nth_everyone: number;
  nth_of_sender: number;
  nth_everyone_of_sender: number;
};

/** What a message's view needs besides its row. */
export type MessageContext = {
  sender_name: string;
  sender_kind: 'human' | 'agent';
  sender_role: string | null;
  sender_harness: string | null;
  sender_person_id: string;
  sender_handle: string;
  parent_id: string | null;
  parent_from: string | null;
  root_id: string | null;
};

export type MessageWithContext = MessageRow &
  MessageContext & {
    /** Canonical JSON of its `message.posted` event. */
    data: string;
  };

/** Whose eyes a query reads with. */
export interface Eyes {
  memberId: string;
  readsAll: boolean;
}

const contextColumns = {
  data: 'e.data',
  sender_name: 's.name',
  sender_kind: 's.kind',
  sender_role: 's.role',
  sender_harness: 's.harness',
  sender_person_id: 's.person_id',
  sender_handle: 'sp.handle',
  parent_id: 'pm.id',
  parent_from: 'ps.name',
  root_id: 'rm.id',
};

const withContext = (db: Knex) =>
  db({ m: 'messages' })
    .join({ e: 'events' }, (on) => on.on('e.board_id', 'm.board_id').andOn('e.seq', 'm.seq'))
    .join({ s: 'members' }, 's.id', 'm.sender_id')
    .join({ sp: 'people' }, 'sp.id', 's.person_id')
    .leftJoin({ pm: 'messages' }, (on) => on.on('pm.board_id', 'm.board_id').andOn('pm.seq', 'm.reply_to_seq'))
    .leftJoin({ ps: 'members' }, 'ps.id', 'pm.sender_id')
    .leftJoin({ rm: 'messages' }, (on) => on.on('rm.board_id', 'm.board_id').andOn('rm.seq', 'm.root_seq'));

/** Narrows a query on `m` to what these eyes may read: own, to everyone, or recorded as addressed. */
export function readable(query: Knex.QueryBuilder, eyes: Eyes): Knex.QueryBuilder {
  if (eyes.readsAll) return query;
  return query.where((either) =>
    either
      .where('m.sender_id', eyes.memberId)
      .orWhere('m.to_everyone', 1)
      .orWhereExists((sub: Knex.QueryBuilder) =>
        sub
          .from({ r: 'message_members' })
          .whereRaw('r.seq = m.seq')
          .where({ 'r.member_id': eyes.memberId, 'r.addressed': 1 })
          .select(sub.client.raw('1')),
      ),
  );
}

const byIdStatement = statement<{ id: string }, MessageRow>((db, p) => db('messages').where('id', p.id).select('*'));
const bySeqStatement = statement<{ board_id: string; seq: number }, MessageRow>((db, p) =>
  db('messages').where({ board_id: p.board_id, seq: p.seq }).select('*'),
);

/** Not yet checked against anybody's eyes; see views/message.ts. */
export const messageById = (tx: ReadTx, id: string): Promise<MessageRow | undefined> => tx.first(byIdStatement, { id });
export const messageBySeq = (tx: ReadTx, boardId: string, seq: number): Promise<MessageRow | undefined> =>
  tx.first(bySeqStatement, { board_id: boardId, seq });

const addressedStatement = statement<{ member_id: string; seq: number }, { addressed: number }>((db, p) =>
  db('message_members').where({ member_id: p.member_id, seq: p.seq }).select('addressed'),
);

export const isAddressed = async (tx: ReadTx, memberId: string, seq: number): Promise<boolean> =>
  (await tx.first(addressedStatement, { member_id: memberId, seq }))?.addressed === 1;

export interface MessageFilter {
  boardId: string;
  eyes: Eyes;
  senderId?: string;
  senderRole?: string;
  toMe?: boolean;
  roots?: boolean;
  mentionsMe?: boolean;
  /** Matches nothing: a filter for something the board has none of. */
  none?: boolean;
  /** Only replies in this thread. */
  rootSeq?: number;
}

export interface SeqWindow {
  /** Exclusive. */
  after: number;
  /** Exclusive; null: no end. */
  before: number | null;
}

function filtered(query: Knex.QueryBuilder, filter: MessageFilter): Knex.QueryBuilder {
  query.where('m.board_id', filter.boardId);
  readable(query, filter.eyes);
  if (filter.none) query.whereRaw('1 = 0');
  if (filter.senderId !== undefined) query.where('m.sender_id', filter.senderId);
  if (filter.senderRole !== undefined) {
    query.whereIn('m.sender_id', (sub: Knex.QueryBuilder) =>
      sub.from('members').where({ board_id: filter.boardId, role: filter.senderRole }).select('id'),
    );
  }
  if (filter.roots) query.whereNull('m.root_seq');
  if (filter.rootSeq !== undefined) query.where('m.root_seq', filter.rootSeq);
  if (filter.toMe) {
    query
      .whereNot('m.sender_id', filter.eyes.memberId)
      .where((either) => either.where('m.to_everyone', 1).orWhereExists(named(filter.eyes.memberId, 'addressed')));
  }
  if (filter.mentionsMe) query.whereExists(named(filter.eyes.memberId, 'mentioned'));
  return query;
}

const named = (memberId: string, how: 'addressed' | 'mentioned') => (sub: Knex.QueryBuilder) =>
  sub
    .from({ n: 'message_members' })
    .whereRaw('n.seq = m.seq')
    .where({ 'n.member_id': memberId, [`n.${how}`]: 1 })
    .select(sub.client.raw('1'));

function within(query: Knex.QueryBuilder, window: SeqWindow): Knex.QueryBuilder {
  query.where('m.seq', '>', window.after);
  if (window.before !== null) query.where('m.seq', '<', window.before);
  return query;
}

/** A page of readable messages with their context, in the order asked for. */
export const messagesIn = (
  tx: ReadTx,
  filter: MessageFilter,
  window: SeqWindow,
  order: 'asc' | 'desc',
  limit: number,
): Promise<MessageWithContext[]> =>
  tx.query<MessageWithContext>((db) =>
    within(filtered(withContext(db), filter), window)
      .orderBy('m.seq', order)
      .limit(limit)
      .select('m.*', contextColumns),
  );

/** Whether a readable message of the filter lies in the window. */
export const anyMessageIn = async (tx: ReadTx, filter: MessageFilter, window: SeqWindow): Promise<boolean> => {
  const rows = await tx.query((db) =>
    within(filtered(db({ m: 'messages' }), filter), window)
      .limit(1)
      .select('m.seq'),
  );
  return rows.length > 0;
};

const withSeqsStatement = listStatement<{ board_id: string }, MessageWithContext>((db, p, seqs) =>
  withContext(db)
    .where('m.board_id', p.board_id)
    .whereIn('m.seq', seqs as number[])
    .orderBy('m.seq')
    .select('m.*', contextColumns),
);

/** The named messages of a board with their context, oldest first. */
export const messagesWithSeqs = (tx: ReadTx, boardId: string, seqs: number[]): Promise<MessageWithContext[]> =>
  tx.all(...withSeqsStatement.over({ board_id: boardId }, seqs));

/** A whole thread, readable part, oldest first: the root and every reply. */
export const readableThread = (
  tx: ReadTx,
  boardId: string,
  rootSeq: number,
  eyes: Eyes,
): Promise<MessageWithContext[]> =>
  tx.query<MessageWithContext>((db) =>
    readable(
      withContext(db)
        .where('m.board_id', boardId)
        .where((either) => either.where('m.seq', rootSeq).orWhere('m.root_seq', rootSeq)),
      eyes,
    )
      .orderBy('m.seq')
      .select('m.*', contextColumns),
  );

export interface ReplyCount {
  root_seq: number;
  count: number;
  last_at: number;
}

/** Readable replies of these threads, for readers who may not read all. */
export const countReadableReplies = (tx: ReadTx, boardId: string, roots: number[], eyes: Eyes): Promise<ReplyCount[]> =>
  tx.query<ReplyCount>((db) =>
    readable(db({ m: 'messages' }).where('m.board_id', boardId).whereIn('m.root_seq', roots), eyes)
      .groupBy('m.root_seq')
      .select({ root_seq: 'm.root_seq' })
      .count({ count: '*' })
      .max({ last_at: 'm.at' }),
  );

/** Direct, readable replies to a message, oldest first, at most `limit`. */
export const directReplies = (
  tx: ReadTx,
  boardId: string,
  seq: number,
  eyes: Eyes,
  limit: number,
): Promise<{ id: string; sender_id: string }[]> =>
  tx.query((db) =>
    readable(db({ m: 'messages' }).where({ 'm.board_id': boardId, 'm.reply_to_seq': seq }), eyes)
      .orderBy('m.seq')
      .limit(limit)
      .select('m.id', 'm.sender_id'),
  );

/* Inbox and positions */

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

const urgentStatement = statement<{ board_id: string; after: number; me: string }, { count: number }>((db, p) =>
  db('messages')
    .where('board_id', p.board_id)
    .where('seq', '>', p.after)
    .where({ urgent: 1, to_everyone: 1 })
    .whereNot('sender_id', p.me)
    .select({ count: db.raw('COUNT(*)') }),
);

/** Urgent messages to everyone after a position, by somebody else. */
export const urgentToEveryoneSince = async (tx: ReadTx, boardId: string, after: number, me: string): Promise<number> =>
  Number((await tx.first(urgentStatement, { board_id: boardId, after, me }))?.count ?? 0);

const everyoneSeqsStatement = statement<
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
  of: { boardId: string; eyes: Eyes; after: number; urgentOnly: boolean; limit: number },
): Promise<number[]> => {
  const urgent = of.urgentOnly ? 1 : 0;
  const { memberId, readsAll } = of.eyes;
  const everyone = await tx.all(everyoneSeqsStatement, {
    board_id: of.boardId,
    after: of.after,
    me: memberId,
    urgent,
    limit: of.limit,
  });
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

const countsAtStatement = statement<{ board_id: string; up_to: number }, Pick<MessageRow, 'nth' | 'nth_everyone'>>(
  (db, p) =>
    db.raw('SELECT nth, nth_everyone FROM messages WHERE board_id = ? AND seq <= ? ORDER BY seq DESC LIMIT 1', [
      p.board_id,
      p.up_to,
    ]),
);
const sentAtStatement = statement<
  { sender_id: string; up_to: number },
  Pick<MessageRow, 'nth_of_sender' | 'nth_everyone_of_sender'>
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

/* Writes */

const insertStatement = statement<MessageRow>((db, p) =>
  db('messages').insert({
    id: p.id,
    board_id: p.board_id,
    seq: p.seq,
    at: p.at,
    sender_id: p.sender_id,
    reply_to_seq: p.reply_to_seq,
    root_seq: p.root_seq,
    to_everyone: p.to_everyone,
    urgent: p.urgent,
    expects_reply: p.expects_reply,
    reply_count: p.reply_count,
    last_reply_at: p.last_reply_at,
    nth: p.nth,
    nth_everyone: p.nth_everyone,
    nth_of_sender: p.nth_of_sender,
    nth_everyone_of_sender: p.nth_everyone_of_sender,
  }),
);

export const insertMessage = (tx: WriteTx, row: MessageRow): Promise<number> => tx.run(insertStatement, row);

const replyStatement = statement<{ board_id: string; seq: number; at: number }>((db, p) =>
  db('messages')
    .where({ board_id: p.board_id, seq: p.seq })
    .update({ reply_count: db.raw('reply_count + 1'), last_reply_at: p.at }),
);

/** Counts a reply on its thread's first message. */
export const countReply = (tx: WriteTx, boardId: string, rootSeq: number, at: number): Promise<number> =>
  tx.run(replyStatement, { board_id: boardId, seq: rootSeq, at });

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
