/** What an event changes about messages that are shown already: replies, answers, reactions, names. */

import type { BoardEvent, Message } from '../../contract/types.ts';
import { emojis, type ReactionName } from '../../contract/values.ts';
import type { Entry } from './entries.ts';
import { Post } from './thread.ts';
import type { Unread } from './unread.ts';

/** The part of the conversation that changes. */
interface Shown {
  readonly entries: { peek(): readonly Entry[] };
  readonly unread: Unread;
  readonly me: string;
  find(seq: number): { post: Post; root: Post } | undefined;
}

/** Carries an event over to the messages that it is about. */
export function changed(shown: Shown, event: BoardEvent, message: Message | undefined): void {
  if (message && message.thread_root_seq !== null) replied(shown, message);
  if (event.type === 'reaction.added' || event.type === 'reaction.removed') reacted(shown, event);
  if (event.type === 'person.renamed') renamed(shown, event);
  if (event.type === 'thread.stopped' || event.type === 'thread.continued') decided(shown, event);
}

function replied(shown: Shown, reply: Message): void {
  const root = shown.find(reply.thread_root_seq!)?.root;
  if (!root?.thread) return;
  const before = root.message.peek();
  // A record that was read after the reply counts it already.
  const counted = before.last_reply_at !== undefined && before.last_reply_at >= reply.at;
  const count = (before.reply_count ?? 0) + (counted ? 0 : 1);
  const next = { ...before, reply_count: count, last_reply_at: reply.at, ...runWith(before, reply) };
  root.message.value = reply.answer && reply.reply_to === before.id ? { ...next, ...answered(before, reply) } : next;
  root.thread.add(reply);
  const isNew = count === 1 || reply.sender === 'self';
  if (isNew || root.thread.open.peek()) {
    if (isNew) root.thread.offer();
    void root.thread.load();
  }
}

/** The run of agents in a thread with one more reply; a person ends it. */
function runWith({ thread }: Message, { from, agent_run, held }: Message): Pick<Message, 'agent_run' | 'thread'> {
  if (from.kind === 'human') return { agent_run: undefined, thread: undefined };
  return { agent_run, thread: held ? 'held' : thread };
}

/** A person let agents go on in a thread, or closed it for them. */
function decided(shown: Shown, { type, data }: BoardEvent): void {
  const root = posts(shown).find(({ message }) => message.peek().id === data?.['message_id']);
  if (root) root.message.value = { ...root.message.peek(), thread: type === 'thread.stopped' ? 'stopped' : undefined };
}

function answered({ ask }: Message, { seq, answer }: Message): Pick<Message, 'ask'> {
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

function reacted(shown: Shown, { type, data, actor }: BoardEvent): void {
  const post = posts(shown).find(({ message }) => message.peek().id === data?.['message_id']);
  const name = data?.['name'] as ReactionName | undefined;
  if (!post || !name || actor.name === null) return;
  const message = post.message.peek();
  const before = message.reactions.find((reaction) => reaction.name === name);
  const others = (before?.by ?? []).filter((by) => by !== actor.name);
  const there = others.length !== (before?.by.length ?? 0);
  const added = type === 'reaction.added';
  if (there === added) return;
  const mine = actor.kind === 'human' && actor.name === shown.me ? added : (before?.mine ?? false);
  const count = (before?.count ?? 0) + (added ? 1 : -1);
  const by = added ? [...others, actor.name] : others;
  const rest = message.reactions.filter((reaction) => reaction.name !== name);
  const next = count > 0 ? [...rest, { name, emoji: emojis[name], count, by, mine }] : rest;
  post.message.value = {
    ...message,
    reactions: next.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name)),
  };
}

function renamed(shown: Shown, { data }: BoardEvent): void {
  for (const { message } of posts(shown)) {
    const { from } = message.peek();
    if (from.id === data?.['member_id'])
      message.value = { ...message.peek(), from: { ...from, name: String(data['after']) } };
  }
}

const posts = (shown: Shown): Post[] =>
  shown.entries
    .peek()
    .flatMap((entry) => (entry instanceof Post ? [entry, ...(entry.thread?.replies.peek() ?? [])] : []));
