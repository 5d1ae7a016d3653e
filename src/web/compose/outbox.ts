/**
 * Unsent messages. A message keeps its idempotency key while the outcome is unknown, also across a reload, so that it
 * is never posted twice. A definite refusal ends the key.
 */
import { signal } from '@preact/signals';
import { ClientError } from '../../client/errors.ts';
import { newIdempotencyKey } from '../../client/idempotency.ts';
import type { BodyIn, Message } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { type Problem, toProblem } from '../api/errors.ts';
import { announce } from '../parts/announce.tsx';
import { type Room, room as shownRoom } from '../state/room.ts';
import { listenToStorage, readStorage, writeStorage } from '../state/storage.ts';
import { openTalk } from '../timeline/context.ts';
import { changeDraft, type Draft, getDraft } from './draft.ts';

export interface Unsent {
  /** Identifies the message even when its key changes. */
  id: string;
  key: string;
  board: string;
  body: BodyIn<'postMessage'>;
  at: string;
  /** The draft it was made from, and the draft's storage name, for editing it again. */
  draft: Draft;
  name: string;
  state: 'sending' | 'failed' | 'posted';
  problem?: Problem;
  /** The outcome is unknown. This name is stored in browsers. */
  unclear?: boolean;
}

/** Messages of the open board that the conversation does not show yet. */
export const unsent = signal<readonly Unsent[]>([]);

/** The server remembers keys for 24 hours; an hour less is safe. */
const MAX_KEY_AGE_MS = 23 * 3_600_000;
/** Whether a retry could post the message twice because the server may have forgotten its key. */
export const isStale = ({ unclear, at }: Unsent): boolean =>
  unclear === true && Date.now() - Date.parse(at) > MAX_KEY_AGE_MS;

let storageName = '';

const noConnection: Problem = { code: 'server_unreachable', message: 'No connection.', hint: '' };

/** Loads a stored list. */
export function openOutbox(name: string): void {
  if (name === storageName) return;
  storageName = name;
  const list = read(name);
  unsent.value = list.filter(({ state }) => state === 'failed');
  for (const item of list) if (item.state === 'sending') void failOnceNotSent(item, name);
}

/** A message that is being sent is locked by its tab. Once none sends it, it has failed with an unknown outcome. */
const failOnceNotSent = (item: Unsent, name: string): Promise<void> =>
  navigator.locks.request(item.id, () => {
    if (read(name).some(({ id, state }) => id === item.id && state === 'sending'))
      put({ ...item, state: 'failed', unclear: true, problem: noConnection }, name);
  });

function read(name: string): Unsent[] {
  try {
    return JSON.parse(readStorage(name) ?? '[]') as Unsent[];
  } catch {
    return [];
  }
}

// What another tab is sending may still succeed; it is shown here only once it failed.
listenToStorage((name) => {
  if (name !== storageName) return;
  const own = unsent.peek().filter(({ state }) => state !== 'failed');
  const failed = read(name).filter(({ id, state }) => state === 'failed' && !own.some((item) => item.id === id));
  unsent.value = [...failed, ...own];
});

/** Adds or replaces one message of a list; the others in storage may be of another tab. */
function put(item: Unsent, name = storageName): void {
  const change = (items: readonly Unsent[]): readonly Unsent[] =>
    items.some(({ id }) => id === item.id)
      ? items.map((other) => (other.id === item.id ? item : other))
      : [...items, item];
  write(name, change);
}

const remove = (id: string, name = storageName): void => write(name, (items) => items.filter((item) => item.id !== id));

function write(name: string, change: (items: readonly Unsent[]) => readonly Unsent[]): void {
  if (name === storageName) unsent.value = change(unsent.peek());
  const waiting = change(read(name)).filter(({ state }) => state !== 'posted');
  writeStorage(name, waiting.length === 0 ? null : JSON.stringify(waiting));
}

/** Sends a message and clears its draft at once. */
export function sendDraft(room: Room, name: string, body: BodyIn<'postMessage'>): void {
  const draft = getDraft(name).peek();
  const id = newIdempotencyKey();
  const item: Unsent = {
    id,
    key: draft.key ?? id,
    board: room.name,
    body,
    at: new Date().toISOString(),
    draft,
    name,
    state: 'sending',
  };
  put(item);
  changeDraft(name, { text: '', to: null, urgent: false, expectsReply: false, ask: null, files: [], key: null });
  startSending(room, item);
}

const startSending = (room: Room, item: Unsent): void => void navigator.locks.request(item.id, () => send(room, item));

/** Sends a failed message again; with a new key only after a definite refusal. */
export function tryAgain(room: Room, item: Unsent): void {
  if (item.state !== 'failed' || isStale(item)) return;
  const again: Unsent = { ...item, state: 'sending', key: item.unclear ? item.key : newIdempotencyKey() };
  put(again);
  startSending(room, again);
}

/** Moves a failed message back into the message box, before the current text. */
export function edit(item: Unsent): void {
  const now = getDraft(item.name).peek();
  const text = [item.draft.text, now.text].filter(Boolean).join('\n\n');
  const key = item.unclear && !isStale(item) ? item.key : null;
  changeDraft(item.name, { ...item.draft, text, files: [...item.draft.files, ...now.files].slice(0, 8), key });
  remove(item.id);
}

export const discard = (item: Unsent): void => remove(item.id);

/** Ids of own messages in the conversation that are already matched to a message of the list. */
const matched = new Set<string>();

async function send(room: Room, item: Unsent): Promise<void> {
  const list = storageName;
  let arrived = false;
  // The event may arrive before or after the response. The message is in the list until then, and never shown twice.
  const stop = room.subscribe(({ event, message }) => {
    if (arrived || message?.sender !== 'self' || message.body.trim() !== item.body.body.trim()) return;
    if (matched.has(message.id) || Date.parse(event.at) < Date.parse(item.at) - 60_000) return;
    matched.add(message.id);
    arrived = true;
    remove(item.id);
    showOwn(room, message);
  });
  try {
    const { body, key: idempotencyKey } = item;
    const posted = await call('postMessage', {
      params: { board: room.name },
      body,
      idempotencyKey,
      maxAttempts: 2,
    });
    if (list !== storageName) return remove(item.id, list);
    if (!arrived) put({ ...item, state: 'posted' });
    announce('Posted');
    // The board may have been left and opened again, and the room that it was sent from gets no more events.
    await untilShown(shownRoom.peek() ?? room, posted.seq);
    remove(item.id);
    // The server took a secret out of its text.
    if (!arrived) showOwn(room, posted);
  } catch (error) {
    const unclear = mayHavePosted(error);
    if (arrived && unclear) return;
    const problem = hasConflict(error) ? alreadyPosted : toProblem(error);
    put({ ...item, state: 'failed', unclear, problem }, list);
    announce(`Not posted. ${problem.message}`, { urgent: true });
  } finally {
    stop();
  }
}

/** After posting, the person sees their own message. */
function showOwn(room: Room, { thread_root }: Message): void {
  const talk = openTalk.peek();
  if (thread_root === null && talk?.room === room) void talk.timeline.toNewest();
}

/** Resolves when the conversation shows events up to `seq`. */
const untilShown = (room: Room, seq: number): Promise<void> =>
  new Promise((resolve) => {
    const stop = room.head.subscribe((head) => {
      if ((head ?? seq) < seq) return;
      resolve();
      queueMicrotask(() => stop());
    });
  });

/** Whether the message may have been posted despite the error. */
const mayHavePosted = (error: unknown): boolean =>
  !(error instanceof ClientError) ||
  error.delivery !== 'answered' ||
  (error.status ?? 500) >= 500 ||
  error.code === 'idempotency_in_progress';

/** The key was used with another text, so the first version was posted after all. */
const hasConflict = (error: unknown): boolean => error instanceof ClientError && error.code === 'idempotency_conflict';
const alreadyPosted: Problem = {
  code: 'idempotency_conflict',
  message: 'It was already posted as it was before you changed it.',
  hint: 'Discard this one, or post it as a second message.',
};
