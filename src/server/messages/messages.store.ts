/** Message rows: what lists, threads, inboxes and counts need. The text itself is read from the record. */
import type { Knex } from 'knex';
import type { Query } from '../../contract/types.ts';
import { anyRow, idsOf } from '../db/query.ts';
import { rowBy } from '../db/rows.ts';
import { insertion, listStatement, statement } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { type AgentRun, NO_LIMIT, RESTARTS } from './agent-run.rules.ts';
import { type MessageReader, readable } from './readable.rules.ts';

/** A message with, on a thread's first one, its run of agents. */
export type MessageRow = NewMessage & AgentRun;

/** What is written of a new message; the rest has defaults. */
export type NewMessage = {
  id: string;
  board_id: string;
  seq: number;
  at: number;
  sender_id: string;
  reply_to_seq: number | null;
  /** The thread's first message; null for a message that replies to nothing. */
  root_seq: number | null;
  to_everyone: number;
  /** Ids of the members that `@name` targets meant, joined by commas; null: none, or another message keeps them. */
  named: string | null;
  /** Number of the message of the same thread that keeps `named` for this one. */
  named_seq: number | null;
  urgent: number;
  expects_reply: number;
  /** Id of the ask that this message answers or takes back. */
  answer_to: string | null;
  /** 1: it answers that ask, it does not take it back. */
  answers: number;
  /** Only on thread starters: replies of any depth. */
  reply_count: number;
  last_reply_at: number | null;
  last_reply_seq: number | null;
  /** Reactions that stand. */
  reaction_count: number;
  /** Running counts up to and including this message: on the board, to everyone, by its sender, both. */
  nth: number;
  nth_everyone: number;
  nth_of_sender: number;
  nth_everyone_of_sender: number;
  /** On a thread's first message: how many messages in a row agents have posted in it. On a reply: the same with it. */
  agent_run: number;
  /** 1: it wakes nobody, because the run was over its limit. */
  held: number;
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

const bySeqStatement = statement<{ board_id: string; seq: number }, MessageRow>((db, p) =>
  db('messages').where({ board_id: p.board_id, seq: p.seq }).select('*'),
);

/** Not yet checked against any reader; see views/message.ts. */
export const messageById = rowBy<MessageRow>('messages', 'id');
export const messageBySeq = (tx: ReadTx, boardId: string, seq: number): Promise<MessageRow | undefined> =>
  tx.first(bySeqStatement, { board_id: boardId, seq });

/** The first message of the thread that a message is in. */
export async function rootOf(tx: ReadTx, message: MessageRow): Promise<MessageRow> {
  const root = message.root_seq === null ? message : await messageBySeq(tx, message.board_id, message.root_seq);
  if (!root) throw new Error(`message ${message.id} has lost its thread`);
  return root;
}

const addressedStatement = statement<{ member_id: string; seq: number }, { addressed: number }>((db, p) =>
  db('message_members').where({ member_id: p.member_id, seq: p.seq }).select('addressed'),
);

export const isAddressed = async (tx: ReadTx, memberId: string, seq: number): Promise<boolean> =>
  (await tx.first(addressedStatement, { member_id: memberId, seq }))?.addressed === 1;

export interface MessageFilter {
  boardId: string;
  reader: MessageReader;
  senderId?: string;
  senderRole?: string;
  /** As the reader asked for it. */
  asked?: Partial<Pick<Query<'listMessages'>, 'to_me' | 'roots' | 'has'>>;
  /** About this task. */
  taskId?: string;
  /** Only replies in this thread. */
  rootSeq?: number;
}

interface SeqWindow {
  /** Exclusive. */
  after: number;
  /** Exclusive; null: no end. */
  before: number | null;
}

function filtered(query: Knex.QueryBuilder, filter: MessageFilter): Knex.QueryBuilder {
  const { asked = {} } = filter;
  query.where('m.board_id', filter.boardId);
  readable(query, filter.reader);
  if (filter.senderId !== undefined) query.where('m.sender_id', filter.senderId);
  if (filter.senderRole !== undefined) {
    // Looked up for each message: few are of other roles, and a board may have had thousands of members.
    query.whereRaw(exists('members AS w WHERE w.id = m.sender_id AND w.role = ?'), [filter.senderRole]);
  }
  if (asked.roots) query.whereNull('m.root_seq');
  if (filter.rootSeq !== undefined) query.where('m.root_seq', filter.rootSeq);
  if (asked.to_me) {
    query
      .whereNot('m.sender_id', filter.reader.memberId)
      .where((either) => either.where('m.to_everyone', 1).orWhereRaw(addressed, [filter.reader.memberId]));
  }
  if (asked.has === 'answer') query.whereNotNull('m.answer_to');
  if (asked.has === 'files') {
    query.join({ f: 'message_files' }, 'f.message_id', 'm.id').where({ 'f.board_id': filter.boardId, 'f.n': 0 });
  }
  if (asked.has === 'ask') query.join({ f: 'asks' }, 'f.message_id', 'm.id').where('f.board_id', filter.boardId);
  if (asked.has === 'mention_me' || asked.has === 'awaits_me') {
    query.join({ f: 'message_members' }, 'f.seq', 'm.seq');
    // Written out: their indexes hold only such rows.
    const marked = asked.has === 'mention_me' ? 'f.mentioned = 1' : 'f.awaits = 1';
    query.where('f.member_id', filter.reader.memberId).whereRaw(marked);
  }
  if (filter.taskId !== undefined) {
    const about = { task_id: filter.taskId };
    query.whereIn('m.seq', (sub: Knex.QueryBuilder) => sub.from('message_tasks').where(about).select('seq'));
  }
  return query;
}

/** LIMIT makes SQLite look before it reads what else is shown of the message; Postgres leaves it out. */
const exists = (rows: string): string => `EXISTS (SELECT 1 FROM ${rows} LIMIT 1)`;

const addressed = exists('message_members AS a WHERE a.seq = m.seq AND a.member_id = ? AND a.addressed = 1');

/** The number of a message, in the table whose index lists what the filter keeps. */
const seqOf = ({ asked }: MessageFilter): string => (asked?.has && asked.has !== 'answer' ? 'f.seq' : 'm.seq');

function within(query: Knex.QueryBuilder, filter: MessageFilter, window: SeqWindow): Knex.QueryBuilder {
  filtered(query, filter).where(seqOf(filter), '>', window.after);
  if (window.before !== null) query.where(seqOf(filter), '<', window.before);
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
    within(withContext(db), filter, window).orderBy(seqOf(filter), order).limit(limit).select('m.*', contextColumns),
  );

/** Whether a readable message of the filter lies in the window. */
export const anyMessageIn = (tx: ReadTx, filter: MessageFilter, window: SeqWindow): Promise<boolean> =>
  anyRow(tx, (db) =>
    within(db({ m: 'messages' }), filter, window)
      .limit(1)
      .select('m.seq'),
  );

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

/** Numbers of messages by their ids. */
export const seqsOf = async (tx: ReadTx, ids: string[]): Promise<number[]> => {
  const rows = await tx.query<{ seq: number }>((db) => db('messages').whereIn('id', ids).select('seq'));
  return rows.map((row) => row.seq);
};

/** Ids of those messages that this reader may read. */
export const isReadable = (tx: ReadTx, ids: string[], reader: MessageReader): Promise<string[]> =>
  idsOf(tx, (db) => readable(db({ m: 'messages' }).whereIn('m.id', ids), reader).select('m.id'));

interface PostedEvent {
  message_id: string;
  /** JSON, as in the record. */
  actor: string;
  data: string;
}

/** The events that posted these messages. */
export const postedEvents = (tx: ReadTx, ids: string[]): Promise<PostedEvent[]> =>
  tx.query<PostedEvent>((db) =>
    db({ m: 'messages' })
      .join({ e: 'events' }, (on) => on.on('e.board_id', 'm.board_id').andOn('e.seq', 'm.seq'))
      .whereIn('m.id', ids)
      .select({ message_id: 'm.id', actor: 'e.actor', data: 'e.data' }),
  );

interface ReplyCount {
  root_seq: number;
  count: number;
  last_at: number;
}

/** Readable replies of these threads, for readers who may not read all. */
export const countReadableReplies = (tx: ReadTx, boardId: string, roots: number[], reader: MessageReader) =>
  tx.query<ReplyCount>((db) =>
    readable(db({ m: 'messages' }).where('m.board_id', boardId).whereIn('m.root_seq', roots), reader)
      .groupBy('m.root_seq')
      .select({ root_seq: 'm.root_seq' })
      .count({ count: '*' })
      .max({ last_at: 'm.at' }),
  );

/** Direct, readable replies to a message, oldest first, of each sender at most `limit`. */
export const directReplies = (tx: ReadTx, boardId: string, seq: number, reader: MessageReader, limit: number) =>
  tx.query<{ id: string; sender_id: string }>((db) => {
    const nth = db.raw('ROW_NUMBER() OVER (PARTITION BY m.sender_id ORDER BY m.seq)');
    const replies = db({ m: 'messages' }).where({ 'm.board_id': boardId, 'm.reply_to_seq': seq });
    return db
      .from(readable(replies, reader).select('m.id', 'm.sender_id', 'm.seq', { nth }).as('replies'))
      .where('nth', '<=', limit)
      .orderBy('seq')
      .select('id', 'sender_id');
  });

const inserting = insertion<NewMessage>('messages');

export const insertMessage = (tx: WriteTx, row: NewMessage): Promise<void> => tx.send(inserting(row), row);

const runOf = ({ agent_run, run_limit, run_restarts, run_held_at, run_stopped }: AgentRun): AgentRun => {
  return { agent_run, run_limit, run_restarts, run_held_at, run_stopped };
};

type ThreadKey = { board_id: string; seq: number };

const replyStatement = statement<ThreadKey & AgentRun & { reply_seq: number; at: number }>((db, p) =>
  db('messages')
    .where({ board_id: p.board_id, seq: p.seq })
    .update({ reply_count: db.raw('reply_count + 1'), last_reply_at: p.at, last_reply_seq: p.reply_seq, ...runOf(p) }),
);

/** Counts a reply on its thread's first message, with the run of agents that it makes. */
export const countReply = (tx: WriteTx, rootSeq: number, reply: NewMessage, run: AgentRun): Promise<number> =>
  tx.run(replyStatement, {
    board_id: reply.board_id,
    seq: rootSeq,
    reply_seq: reply.seq,
    at: reply.at,
    ...runOf(run),
  });

const saveRunStatement = statement<ThreadKey & AgentRun>((db, p) =>
  db('messages').where({ board_id: p.board_id, seq: p.seq }).update(runOf(p)),
);

/** Writes the run of agents on a thread's first message. */
export const saveRun = (tx: WriteTx, root: ThreadKey, run: AgentRun): Promise<number> =>
  tx.run(saveRunStatement, { board_id: root.board_id, seq: root.seq, ...runOf(run) });

/** Lets messages held in a thread wake those they are for, up to this length of the run. */
export const releaseHeld = (tx: WriteTx, { board_id, seq: root_seq }: ThreadKey, upTo: number): Promise<number> =>
  tx.change((db) =>
    db('messages').where({ board_id, root_seq, held: 1 }).where('agent_run', '<=', upTo).update({ held: 0 }),
  );

/**
 * Starts the runs of agents anew in some threads, where that may be; what was held in them wakes those it is for. A thread
 * that a person stopped waits for that person.
 */
async function restartRuns(tx: WriteTx, inThreads: (query: Knex.QueryBuilder, db: Knex) => Knex.QueryBuilder) {
  const restartable = (db: Knex): Knex.QueryBuilder =>
    inThreads(db('messages').where('agent_run', '>', 0).where('run_stopped', 0), db).where(
      'run_restarts',
      '<',
      RESTARTS,
    );
  const held = (db: Knex) => restartable(db).whereNotNull('run_held_at').select('board_id', 'seq');
  for (const root of await tx.query<ThreadKey>(held)) await releaseHeld(tx, root, NO_LIMIT);
  await tx.change((db) =>
    restartable(db).update({
      agent_run: 0,
      run_limit: null,
      run_held_at: null,
      run_restarts: db.raw('run_restarts + 1'),
    }),
  );
}

/** Starts the runs of agents anew in the threads that are about a task. */
export const restartRunsAbout = (tx: WriteTx, taskId: string): Promise<void> =>
  restartRuns(tx, (query) =>
    query.whereRaw(
      "(board_id, seq) IN (SELECT board_id, thread_seq FROM message_tasks WHERE task_id = ? AND how <> 'named')",
      [taskId],
    ),
  );

/** The same in the threads where a version of a file is cited. */
export const restartRunsCiting = (tx: WriteTx, boardId: string, fileId: string, version: number): Promise<void> =>
  restartRuns(tx, (query, db) =>
    query
      .where({ board_id: boardId })
      .whereIn('seq', (citing: Knex.QueryBuilder) =>
        citing
          .from({ a: 'message_files' })
          .join({ m: 'messages' }, 'm.id', 'a.message_id')
          .where({ 'a.file_id': fileId, 'a.version': version })
          .select(db.raw('COALESCE(m.root_seq, m.seq)')),
      ),
  );

/** First messages of threads in which agents' posts are held and that nobody stopped, on these boards. */
export const heldThreads = (tx: ReadTx, boardIds: string[]): Promise<MessageRow[]> =>
  tx.query((db) =>
    db('messages').whereIn('board_id', boardIds).whereNotNull('run_held_at').where('run_stopped', 0).select('*'),
  );
