/**
 * Unsent messages. A message keeps its idempotency key while the outcome is unknown, also across a reload, so that it
 * is never posted twice. A definite refusal ends the key. What failed for lack of a connection is posted once there is
 * one, in the order in which it was written.
 */
import { effect, signal } from '@preact/signals';
import { ClientError } from '../../client/errors.ts';
import { newIdempotencyKey } from '../../client/idempotency.ts';
import type { BodyIn, Message } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { hasCode, type Problem, toProblem } from '../api/errors.ts';
import { session } from '../api/session.ts';
import { hasConnection, listenToReturn } from '../live/link.ts';
import { announce } from '../parts/announce.tsx';
import { copy, toastError } from '../parts/toast.tsx';
import { isForgotten, isOld, mayBeDone } from '../state/attempts.ts';
import { openTalk } from '../state/open-talk.ts';
import { replyTarget } from '../state/reply.ts';
import { type Room, room as shownRoom } from '../state/room.ts';
import { listenToStorage, readStored, storedNames, unsentName, writeStorage } from '../state/storage.ts';
import { changeDraft, type Draft, getDraft, isEmpty } from './draft.ts';
import { withTimeLeft } from './request.ts';
import { uploads } from './uploads.ts';

export interface Unsent {
  /** Identifies the message even when its key changes. */
  id: string;
  key: string;
  board: string;
  body: BodyIn<'postMessage'>;
  /** What was sent before, perhaps with success, as a question whose time for an answer ran out since, each time. */
  earlier?: readonly BodyIn<'postMessage'>[] | undefined;
  at: string;
  /** The draft it was made from, and the draft's storage name, for editing it again. */
  draft: Draft;
  name: string;
  /** The message that it replies to. What an older page has stored tells none. */
  target?: Message | null;
  state: 'sending' | 'failed' | 'posted';
  problem?: Problem;
  /** It failed for lack of a connection, and is posted once there is one. */
  waits?: boolean;
  /** The outcome is unknown. This name is stored in browsers. */
  unclear?: boolean;
  /** The id of the browser session that it was sent in. */
  session?: string | undefined;
}

/** Messages of the open board that the conversation does not show yet. */
export const unsent = signal<readonly Unsent[]>([]);

export const unknownOutcome = 'It is not known whether this was posted. Look for it before you write it again.';
/** Whether a retry could post the message twice. */
export const isStale = (item: Unsent): boolean => item.unclear === true && isForgotten(item);

let storageName = '';

const noConnection: Problem = { code: 'server_unreachable', message: 'No connection.', hint: '' };
/** Whether the connection was lost, or a gateway has none to the server. */
const isLost = (error: unknown): boolean =>
  hasCode(error, 'server_unreachable', 'request_timeout') ||
  (error instanceof ClientError && [502, 503, 504].includes(error.status!));
/** Why a message was not sent that stands behind one whose connection was lost. */
const behindLost = new ClientError(noConnection.code, noConnection.message);

/** How long after such a failure it is tried again where the streams know of no loss. */
const AGAIN_MS = 15_000;
let timer: ReturnType<typeof setTimeout> | undefined;

/**
 * Sends what waits for a connection, in order, also since before the page was loaded; in another tab it may meanwhile have
 * been sent, given up or tried with another key. What is older than a day waits for the person.
 *
 * @param asked whether the person has just asked for it
 */
function sendWaiting(asked: boolean): void {
  clearTimeout(timer);
  timer = undefined;
  const person = session.peek()?.person.id;
  if (person === undefined) return;
  for (const list of storedNames(unsentName(person)))
    for (const item of read(list)) {
      if (!isWaiting(item)) continue;
      if (isStale(item) || isOld(item)) put({ ...item, waits: false }, list);
      else {
        const again = asSending(item);
        put(again, list);
        startSending(again, list, asked);
      }
    }
}

function tryLater(): void {
  timer ??= setTimeout(() => {
    timer = undefined;
    if (hasConnection()) sendWaiting(false);
  }, AGAIN_MS);
}

/** Whether a failed message is posted once there is a connection. */
export const isWaiting = ({ state, waits = false }: Unsent): boolean => state === 'failed' && waits;

/** The room of a board if it is open. */
const openRoomOf = (board: string): Room | null => {
  const shown = shownRoom.peek();
  return shown?.name === board ? shown : null;
};

/** Ids of the messages that this tab is sending. */
const sentHere = new Set<string>();
/** Ids of those that it waits for another tab to send. */
const sentElsewhere = new Set<string>();

/** Loads a stored list, without what another tab is sending. */
export function openOutbox(name: string): void {
  if (name === storageName) return;
  storageName = name;
  const list = read(name);
  unsent.value = list.filter(({ id, state }) => state === 'failed' || sentHere.has(id));
  failWhatIsNotSent(name);
}

/** A message that is being sent is locked by its tab. Once none sends it, it has failed with an unknown outcome. */
function failWhatIsNotSent(name: string): void {
  for (const { id, state } of read(name)) {
    if (state !== 'sending' || sentHere.has(id) || sentElsewhere.has(id)) continue;
    sentElsewhere.add(id);
    void navigator.locks.request(id, () => {
      sentElsewhere.delete(id);
      const item = read(name).find((other) => other.id === id);
      if (item?.state !== 'sending') return;
      put({ ...item, state: 'failed', waits: true, unclear: true, problem: noConnection }, name);
      sendWaiting(false);
    });
  }
}

const read = (name: string): Unsent[] => readStored(name, []);

// What another tab is sending may still succeed; it is shown here only once it failed.
listenToStorage((name) => {
  if (name.startsWith(unsentName(session.peek()?.person.id ?? ''))) failWhatIsNotSent(name);
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
  const kept = change(read(name)).filter(({ state }) => state !== 'posted');
  writeStorage(name, kept.length === 0 ? null : JSON.stringify(kept));
}

/** Sends a message and clears its draft at once. */
export function sendDraft(room: Room, name: string, body: BodyIn<'postMessage'>, target: Message | null): void {
  const draft = getDraft(name).peek();
  const id = newIdempotencyKey();
  // An attempt of its draft may have got through.
  const unclear = draft.attempt !== null;
  const attempt = draft.attempt ?? { key: id, at: new Date().toISOString() };
  const made: Unsent = { ...attempt, id, board: room.name, body, draft, name, target, unclear, state: 'failed' };
  const stale = isStale(made);
  const item = stale ? made : asSending(made);
  const list = storageName;
  const waits = !stale && read(list).some(isWaiting);
  // Before another tab knows it and waits for it. One that stores its list at the same time may drop it there.
  if (!stale && !waits) lock(id, () => send(item, list, true));
  put(waits ? { ...item, state: 'failed', waits, problem: noConnection } : item);
  changeDraft(name, { text: '', to: null, urgent: false, expectsReply: false, ask: null, files: [], attempt: null });
  saidLost = false;
  if (stale) announce(unknownOutcome, { urgent: true });
  // Others were written before it.
  else if (waits && hasConnection()) sendWaiting(true);
  else if (waits) announceFailure(noConnection, true);
}

function asSending(item: Omit<Unsent, 'state'>): Unsent {
  const body = withTimeLeft(item.body, item.draft);
  const { earlier = [] } = item;
  const sent = body !== item.body && item.unclear ? [...earlier, item.body] : earlier;
  return { ...item, body, earlier: sent, state: 'sending', waits: false, session: session.peek()?.id };
}

function startSending(item: Unsent, list: string, asked: boolean): void {
  lock(item.id, () => {
    const now = read(list).find(({ id }) => id === item.id);
    // Another tab has sent it before, or has tried to, and knows more of what became of it.
    if (!now) return remove(item.id, list);
    if (now.state !== 'failed') return send(item, list, asked);
    put(now, list);
    if (isWaiting(now)) tryLater();
  });
}

/** Does it once no other tab sends this message. Until then its board shows the message, also where that is opened anew. */
function lock(id: string, work: () => unknown): void {
  sentHere.add(id);
  void navigator.locks.request(id, work).finally(() => sentHere.delete(id));
}

/** Sends a failed message again; with a new key only after a definite refusal. What waits for a connection goes with it. */
export function tryAgain(item: Unsent): void {
  if (item.state !== 'failed' || isStale(item)) return;
  saidLost = false;
  if (isWaiting(item)) sendWaiting(true);
  else {
    const again = asSending(item.unclear ? item : { ...item, key: newIdempotencyKey(), at: new Date().toISOString() });
    put(again);
    startSending(again, storageName, true);
  }
}

/**
 * Moves a failed message back into its message box, as the reply that it was. Returns false and keeps it where that box is
 * not empty: one message would get the recipients and files of the other.
 */
export function edit(item: Unsent): boolean {
  replyTarget.value = item.target ?? null;
  if (!isEmpty(getDraft(item.name).peek()) || uploads.peek().some(({ draft }) => draft === item.name)) return false;
  const attempt = { key: item.key, at: item.at, session: item.session };
  changeDraft(item.name, { ...item.draft, attempt: item.unclear && !isStale(item) ? attempt : null });
  discard(item);
  return true;
}

export const discard = ({ id }: Unsent): void => remove(id);

/** Ids of own messages in the conversation that are already matched to a message of the list. */
const matched = new Set<string>();

/** Whether a message of the conversation is one of the list. */
const isPosted = ({ body, at }: Unsent, message: Message): boolean =>
  message.sender === 'self' &&
  message.body.trim() === body.body.trim() &&
  !matched.has(message.id) &&
  Date.parse(message.at) >= Date.parse(at) - 60_000;

/** Whether the conversation shows a message although it is still being sent: its board was left and opened again. */
export function isShown(item: Unsent): boolean {
  const talk = openTalk.value;
  if (item.state === 'failed' || talk?.room.name !== item.board) return false;
  return talk.timeline.entries.value.some(
    (entry) =>
      'message' in entry &&
      [entry, ...(entry.thread?.replies.value ?? [])].some(({ message }) => isPosted(item, message.peek())),
  );
}

/** The last post to each board of those on their way. */
const turns = new Map<string, Promise<unknown>>();

/**
 * Posts once what was written before has been posted or has failed: requests on their way together may swap places. Where
 * that failed for lack of a connection, so has this one.
 */
function inTurn<T>(board: string, post: () => Promise<T>): Promise<T> {
  const afterFailure = (error: unknown): Promise<T> => {
    if (isLost(error)) throw behindLost;
    return post();
  };
  const turn = (turns.get(board) ?? Promise.resolve()).then(post, afterFailure);
  turns.set(board, turn);
  const end = (): void => {
    if (turns.get(board) === turn) turns.delete(board);
  };
  turn.then(end, end);
  return turn;
}

async function post(item: Unsent): Promise<Message> {
  const { board, key: idempotencyKey, body, earlier = [] } = item;
  try {
    return await call('postMessage', { params: { board }, idempotencyKey, maxAttempts: 2, body });
  } catch (error) {
    const former = earlier.at(-1);
    if (!former || !hasCode(error, 'idempotency_conflict')) throw error;
    // It got through with a former time: what was sent then is answered as it was.
    return post({ ...item, body: former, earlier: earlier.slice(0, -1) });
  }
}

/** @param asked whether the person has just asked for it, and is shown it; what is posted by itself moves nothing */
async function send(item: Unsent, list: string, asked: boolean): Promise<void> {
  const { board } = item;
  let arrived = false;
  // The event may arrive before or after the response. The message is in the list until then, and never shown twice.
  const stop = openRoomOf(board)?.subscribe(({ message }) => {
    if (arrived || !message || !isPosted(item, message)) return;
    matched.add(message.id);
    arrived = true;
    remove(item.id, list);
    if (asked) showOwn(message);
  });
  try {
    const posted = await inTurn(board, () => post(item));
    if (list !== storageName) return remove(item.id, list);
    if (!arrived) put({ ...item, state: 'posted' });
    saidLost = false;
    announce('Posted');
    await untilShown(board, posted.seq);
    remove(item.id, list);
    // The server took a secret out of its text.
    if (!arrived && asked) showOwn(posted);
  } catch (error) {
    const { unclear: before = false } = item;
    const unclear = mayBeDone(error, before);
    if (arrived && unclear) return;
    const problem = hasCode(error, 'idempotency_conflict') ? alreadyPosted : toProblem(error);
    const failed: Unsent = { ...item, state: 'failed', waits: isLost(error), unclear, problem };
    put(failed, list);
    if (failed.waits) tryLater();
    const written = item.body.body;
    const text = `Not posted on ${board}. ${problem.message}`;
    // No conversation shows it any more, now or at all.
    if (hasCode(error, 'board_not_found', 'not_on_board'))
      toastError(`${text} You wrote:\n${written}`, { label: 'Copy it', run: () => copy(written, 'your message') });
    else if (!failed.waits && openTalk.peek()?.room.name !== board) toastError(text);
    else announceFailure(problem, isLost(error));
  } finally {
    stop?.();
  }
}

/** Whether a lack of a connection was said since the person last acted: it is said once, however often it is tried. */
let saidLost = false;

function announceFailure({ message }: Problem, lost: boolean): void {
  if (!lost || !saidLost) announce(`Not posted. ${message}`, { urgent: true });
  saidLost = lost;
}

/** After posting, the person sees their own message. */
function showOwn({ board, thread_root }: Message): void {
  const talk = openTalk.peek();
  if (thread_root === null && talk?.room.name === board) void talk.timeline.toNewest();
}

/** Resolves when the board shows events up to `seq`, or is not open any more: once it is opened again, it shows them. */
const untilShown = (board: string, seq: number): Promise<void> =>
  new Promise((resolve) => {
    const stop = effect(() => {
      const open = shownRoom.value;
      if (open?.name === board && (open.head.value ?? seq) < seq) return;
      resolve();
      queueMicrotask(() => stop());
    });
  });

/** The key was used with another text, so the first version was posted after all. */
const alreadyPosted: Problem = {
  code: 'idempotency_conflict',
  message: 'It was already posted as it was before you changed it.',
  hint: 'Discard this one, or post it as a second message.',
};

listenToReturn(() => sendWaiting(false));
// Another person would get a fresh page.
session.subscribe((current) => {
  if (!current) return;
  for (const list of storedNames(unsentName(current.person.id))) failWhatIsNotSent(list);
  if (hasConnection()) sendWaiting(false);
});
