/** Applies events to loaded messages: replies, answers, reactions, names. */
import type { Actor, BoardEvent, Message } from '../../contract/types.ts';
import { emojis, type ReactionName } from '../../contract/values.ts';
import { listAll } from '../api/client.ts';
import type { Room } from '../state/room.ts';
import type { Entry } from './entries.ts';
import { Post, type Thread } from './thread.ts';
import type { Unread } from './unread.ts';

interface LoadedMessages {
  readonly entries: { peek(): readonly Entry[] };
  readonly unread: Unread;
  readonly room: Pick<Room, 'me' | 'members'>;
  find(seq: number): { post: Post; root: Post } | undefined;
  loadReplies(thread: Thread): Promise<void>;
}

/** Updates the loaded messages that an event concerns. */
export function applyEvent(loaded: LoadedMessages, event: BoardEvent, message: Message | undefined): void {
  if (message && message.thread_root_seq !== null) applyReply(loaded, message);
  if (event.type === 'reaction.added' || event.type === 'reaction.removed') applyReaction(loaded, event);
  if (event.type === 'person.renamed') applyRename(loaded, event);
  if (event.type === 'thread.stopped') applyStop(loaded, event);
  if (event.type === 'thread.continued') readRunsAfter(loaded, event.data?.['message_id']);
  if (event.type === 'board.policy_changed') readRunsAfter(loaded);
}

function applyReply(loaded: LoadedMessages, reply: Message): void {
  const root = loaded.find(reply.thread_root_seq!)?.root;
  // An event that comes while messages are read is applied again after that.
  if (!root?.thread || reply.seq <= root.thread.lastReply) return;
  const { thread } = root;
  thread.lastReply = reply.seq;
  const before = root.message.peek();
  const { last_reply_at: last = '' } = thread.root;
  // A message loaded after the reply already counts it. Whether it does where both have one time, the replies tell.
  const next =
    reply.at < last
      ? before
      : {
          ...before,
          reply_count: (before.reply_count ?? 0) + (reply.at > last ? 1 : 0),
          last_reply_at: reply.at,
          ...agentRunAfter(before, reply),
        };
  root.message.value = reply.answer && reply.reply_to === before.id ? { ...next, ...withAnswer(before, reply) } : next;
  thread.add(reply);
  const isNew = next.reply_count === 1 || reply.sender === 'self';
  // The count is not right either while the replies that should tell it could not be loaded.
  if (isNew || reply.at === last || thread.open.peek() || thread.error.peek() !== null) {
    if (isNew) thread.openUnlessClosed();
    void loaded.loadReplies(thread);
  }
}

/** The count of messages in a row by agents, after one more reply. A reply by a person resets it. */
function agentRunAfter({ thread }: Message, { from, agent_run, held }: Message): Pick<Message, 'agent_run' | 'thread'> {
  if (from.kind === 'human') return { agent_run: undefined, thread: undefined };
  return { agent_run, thread: held ? 'held' : thread };
}

/** A person closed a thread for agents. */
function applyStop(loaded: LoadedMessages, { data }: BoardEvent): void {
  const root = postOf(loaded, data);
  if (root) root.message.value = { ...root.message.peek(), thread: 'stopped' };
}

/** The last read of what is held: one after the other, so that no older answer comes last. */
let reading: Promise<void> = Promise.resolve();

function readRunsAfter(loaded: LoadedMessages, thread?: unknown): void {
  reading = reading.then(() => readRuns(loaded, thread)).catch(() => {});
}

/**
 * Reads again what is held: a person or another policy may have let messages of agents go.
 *
 * @param thread the id of the only thread to be read
 */
async function readRuns(loaded: LoadedMessages, thread?: unknown): Promise<void> {
  const all = posts(loaded).filter(({ message }) => message.peek().held || message.peek().thread);
  for (const id of new Set(all.map(({ message }) => message.peek().thread_root ?? message.peek().id))) {
    if (thread !== undefined && id !== thread) continue;
    for await (const page of listAll('listReplies', { params: { message: id }, query: { limit: 200 } }))
      for (const { seq, held, agent_run, thread } of [...page.replies, ...(page.root ? [page.root] : [])]) {
        const message = loaded.find(seq)?.post.message;
        if (message) message.value = { ...message.peek(), held, agent_run, thread };
      }
  }
}

function withAnswer({ ask }: Message, { seq, answer }: Message): Pick<Message, 'ask'> {
  if (!ask || !answer || seq < (ask.answer_seq ?? 0)) return {};
  const { withdrawn, option } = answer;
  return {
    ask: {
      ...ask,
      state: withdrawn ? 'withdrawn' : 'answered',
      answer_seq: seq,
      answer_option: option,
      can_answer: ask.can_answer && !withdrawn,
      can_withdraw: ask.can_withdraw && !withdrawn,
    },
  };
}

const order = Object.keys(emojis);

function applyReaction(loaded: LoadedMessages, { type, data, actor }: BoardEvent): void {
  const post = postOf(loaded, data);
  const name = data?.['name'] as ReactionName | undefined;
  if (!post || !name || actor.name === null) return;
  const message = post.message.peek();
  const before = message.reactions.find((reaction) => reaction.name === name);
  const others = (before?.by ?? []).filter((by) => by !== actor.name);
  const present = others.length !== (before?.by.length ?? 0);
  const added = type === 'reaction.added';
  if (present === added) return;
  const mine = actor.kind === 'human' && actor.name === loaded.room.me.value ? added : (before?.mine ?? false);
  const count = (before?.count ?? 0) + (added ? 1 : -1);
  const by = added ? [...others, actor.name] : others;
  const rest = message.reactions.filter((reaction) => reaction.name !== name);
  const next = count > 0 ? [...rest, { name, emoji: emojis[name], count, by, mine }] : rest;
  post.message.value = {
    ...message,
    reactions: next.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name)),
  };
}

function applyRename(loaded: LoadedMessages, { data }: BoardEvent): void {
  const id = data?.['member_id'];
  const after = String(data?.['after']);
  // The members are read again later.
  const before = loaded.room.members.peek().find((member) => member.id === id)?.name;
  const renamed = (actor: Actor): Actor => (actor.id === id ? { ...actor, name: after } : actor);
  for (const { message } of posts(loaded)) {
    const { from, ask, reactions } = message.peek();
    message.value = {
      ...message.peek(),
      from: renamed(from),
      ask: ask && { ...ask, to: renamed(ask.to) },
      reactions: reactions.map((reaction) => ({
        ...reaction,
        by: reaction.by.map((name) => (name === before ? after : name)),
      })),
    };
  }
}

/** The loaded message that an event is about. */
const postOf = (loaded: LoadedMessages, data: BoardEvent['data']): Post | undefined =>
  posts(loaded).find(({ message }) => message.peek().id === data?.['message_id']);

const posts = (loaded: LoadedMessages): Post[] =>
  loaded.entries
    .peek()
    .flatMap((entry) => (entry instanceof Post ? [entry, ...(entry.thread?.replies.peek() ?? [])] : []));
