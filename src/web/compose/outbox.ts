/**
 * Messages on their way. Each keeps its key as long as nobody knows whether it was posted, also over a reload, so that
 * it is never posted twice; a definite refusal ends the key.
 */
import { signal } from '@preact/signals';
import { ClientError } from '../../client/errors.ts';
import { newIdempotencyKey } from '../../client/idempotency.ts';
import type { BodyIn } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { type Problem, toProblem } from '../api/errors.ts';
import { announce } from '../parts/announce.tsx';
import type { Room } from '../state/room.ts';
import { readStorage, writeStorage } from '../state/storage.ts';
import { changeDraft, type Draft, draftNamed } from './draft.ts';

export interface Unsent {
  /** Its place in the list, which stays when the key changes. */
  id: string;
  key: string;
  board: string;
  body: BodyIn<'postMessage'>;
  at: string;
  /** What was written, and under which name, to go on with it. */
  draft: Draft;
  name: string;
  state: 'sending' | 'failed' | 'posted';
  problem?: Problem;
  /** Nobody knows whether it was posted. */
  unclear?: boolean;
}

/** Messages of the open board that the conversation does not show yet. */
export const unsent = signal<readonly Unsent[]>([]);

/** Servers know a key for 24 hours. */
const KEY_MS = 23 * 3_600_000;
/** A message whose key is too old to be sent again without the risk of posting it twice. */
export const isStale = ({ unclear, at }: Unsent): boolean => unclear === true && Date.now() - Date.parse(at) > KEY_MS;

let storedAs = '';

const noConnection: Problem = { code: 'server_unreachable', message: 'No connection.', hint: '' };

/** Opens the list kept under a name. What was on its way when the page was closed may have arrived. */
export function openOutbox(name: string): void {
  if (name === storedAs) return;
  storedAs = name;
  unsent.value = read();
}

function read(): Unsent[] {
  try {
    const list = JSON.parse(readStorage(storedAs) ?? '[]') as Unsent[];
    return list.map((item) =>
      item.state === 'failed' ? item : { ...item, state: 'failed', unclear: true, problem: noConnection },
    );
  } catch {
    return [];
  }
}

function write(list: readonly Unsent[]): void {
  unsent.value = list;
  const waiting = list.filter(({ state }) => state !== 'posted');
  writeStorage(storedAs, waiting.length === 0 ? null : JSON.stringify(waiting));
}

const change = (id: string, parts: Partial<Unsent>): void =>
  write(unsent.peek().map((item) => (item.id === id ? { ...item, ...parts } : item)));

const remove = (id: string): void => write(unsent.peek().filter((item) => item.id !== id));

/** Sends what was written; the draft is empty again at once. */
export function sendDraft(room: Room, name: string, body: BodyIn<'postMessage'>): void {
  const draft = draftNamed(name).peek();
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
  write([...unsent.peek(), item]);
  changeDraft(name, { text: '', to: null, urgent: false, expectsReply: false, ask: null, files: [], key: null });
  void send(room, item);
}

/** Sends it again under the same key, or under a new one after a refusal. */
export function tryAgain(room: Room, item: Unsent): void {
  if (item.state !== 'failed' || isStale(item)) return;
  const again: Unsent = { ...item, state: 'sending', key: item.unclear ? item.key : newIdempotencyKey() };
  change(item.id, again);
  void send(room, again);
}

/** Puts it back into the message box, before what is written there now. */
export function edit(item: Unsent): void {
  const now = draftNamed(item.name).peek();
  const text = [item.draft.text, now.text].filter(Boolean).join('\n\n');
  const key = item.unclear && !isStale(item) ? item.key : null;
  changeDraft(item.name, { ...item.draft, text, files: [...item.draft.files, ...now.files].slice(0, 8), key });
  remove(item.id);
}

/** Forgets it. */
export const discard = (item: Unsent): void => remove(item.id);

/** Numbers of own messages that the conversation has shown, each of which stands for one message of the list. */
const shown = new Set<number>();

async function send(room: Room, item: Unsent): Promise<void> {
  const list = storedAs;
  let arrived = false;
  // The conversation may show it before the answer is here, or after: until then it stands in the list, and never in both.
  const stop = room.subscribe(({ event, message }) => {
    if (arrived || message?.sender !== 'self' || message.body.trim() !== item.body.body.trim()) return;
    if (shown.has(event.seq) || Date.parse(event.at) < Date.parse(item.at) - 60_000) return;
    shown.add(event.seq);
    arrived = true;
    remove(item.id);
  });
  try {
    const { body, key: idempotencyKey } = item;
    const { seq } = await call('postMessage', {
      params: { board: room.name },
      body,
      idempotencyKey,
      maxAttempts: 2,
    });
    if (list !== storedAs) return forget(list, item.id);
    change(item.id, { state: 'posted' });
    announce('Posted');
    await reached(room, seq);
    remove(item.id);
  } catch (error) {
    const unclear = isUnclear(error);
    if (list !== storedAs || (arrived && unclear)) return;
    const problem = hasConflict(error) ? postedBefore : toProblem(error);
    const failed: Unsent = { ...item, state: 'failed', unclear, problem };
    write([...unsent.peek().filter(({ id }) => id !== item.id), failed]);
    announce(`Not posted. ${problem.message}`, { urgent: true });
  } finally {
    stop();
  }
}

/** Resolves when the conversation has shown everything up to an event. */
const reached = (room: Room, seq: number): Promise<void> =>
  new Promise((resolve) => {
    const stop = room.head.subscribe((head) => {
      if ((head ?? seq) < seq) return;
      resolve();
      queueMicrotask(() => stop());
    });
  });

/** Takes a message out of the list of another board, which was left while it was on its way. */
function forget(list: string, id: string): void {
  const items = JSON.parse(readStorage(list) ?? '[]') as Unsent[];
  const rest = items.filter((item) => item.id !== id);
  writeStorage(list, rest.length === 0 ? null : JSON.stringify(rest));
}

/** Whether the message may have been posted although no answer said so. */
const isUnclear = (error: unknown): boolean =>
  !(error instanceof ClientError) ||
  error.delivery !== 'answered' ||
  (error.status ?? 500) >= 500 ||
  error.code === 'idempotency_in_progress';

/** The key was used with another text: the first form has arrived after all. */
const hasConflict = (error: unknown): boolean => error instanceof ClientError && error.code === 'idempotency_conflict';
const postedBefore: Problem = {
  code: 'idempotency_conflict',
  message: 'It was already posted as it was before you changed it.',
  hint: 'Discard this one, or post it as a second message.',
};
