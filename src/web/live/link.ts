/**
 * Connects this tab to the shared event streams. They run in a SharedWorker, or, in browsers without one, in the tab
 * that holds a lock and serves the others over a BroadcastChannel.
 */
import { signal } from '@preact/signals';
import type { HintFrame } from '../../client/hint-stream.ts';
import { client, readSession } from '../api/client.ts';
import { session } from '../api/session.ts';
import { load } from '../parts/lazy.ts';
import { workerUrl } from '../parts/worker.ts';
import type { Hub, Tab } from './hub.ts';
import type { FromTab, Link, ToTab } from './protocol.ts';

/** The state of the connection to the server. */
export const link = signal<Link>({ state: 'connecting' });

/** Whether nothing is known of a loss of the connection. */
export const hasConnection = (): boolean => !['reconnecting', 'offline'].includes(link.peek().state);

/** When the connection was lost that is said to be; null: there is one, or it was lost just now. */
export const lostAt = signal<number | null>(null);

/** Short interruptions are not shown. */
const SHOWN_AFTER_MS = 1_500;
let loss: ReturnType<typeof setTimeout> | undefined;

function noteLoss(): void {
  const at = Date.now();
  if (!hasConnection()) {
    loss ??= setTimeout(() => {
      lostAt.value = at;
    }, SHOWN_AFTER_MS);
    return;
  }
  clearTimeout(loss);
  loss = undefined;
  lostAt.value = null;
}

/** How long after a session that could not be read it connects again with the one it has. */
const AGAIN_MS = 5_000;

type Listener = (message: ToTab) => void;
const listeners = new Set<Listener>();

/** Calls `listener` with every message of the streams. Returns a function that unsubscribes. */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Calls `listener` with every hint. Returns a function that unsubscribes. */
export const listenToHints = (listener: (hint: HintFrame) => void): (() => void) =>
  listen((message) => {
    if (message.type === 'hint') listener(message.frame);
  });

/**
 * Calls `listener` when the connection is there again after it was lost or left: what other hints than `head` and
 * `unread` said meanwhile is not said again. Also when the browser is online again, because a stream may outlive a short
 * loss. Returns a function that unsubscribes.
 */
export function listenToReturn(listener: () => void): () => void {
  let lost = !hasConnection();
  let before = link.peek().state;
  const stop = listen((message) => {
    if (message.type !== 'link') return;
    const { state } = message.link;
    if (lost && state === 'live') listener();
    lost = state !== 'live' && (lost || before === 'live' || state !== 'connecting');
    before = state;
  });
  addEventListener('online', listener);
  return () => {
    stop();
    removeEventListener('online', listener);
  };
}

// The first of its listeners, so that what the others send is not sent twice.
listenToReturn(() => client.repeat());

let send: (message: FromTab) => void = () => {};
let currentBoard: string | null = null;

/** Selects the board whose events this tab gets; null for none. */
export function showBoard(board: string | null): void {
  currentBoard = board;
  send({ type: 'show', board });
}

/** Ends the current retry delay. */
export const retryNow = (): void => send({ type: 'retry' });

function receive(message: ToTab): void {
  if (message.type === 'link') {
    link.value = message.link;
    document.documentElement.dataset['link'] = message.link.state;
    noteLoss();
  }
  for (const listener of listeners) listener(message);
}

/** Connects this tab, and again whenever another person signs in. */
export function startLink(): void {
  const lock = `tab-${crypto.randomUUID()}`;
  const hello = (): void => {
    const person = session.peek()?.person.id;
    if (person === undefined) return;
    send({ type: 'hello', lock, person });
    send({ type: 'show', board: currentBoard });
  };
  /** Connects a tab that heard nothing for a while, though the streams may be live for others. */
  const again = (): void => {
    receive({ type: 'link', link: { state: 'connecting' } });
    hello();
  };
  // The tab holds the lock until it closes, which tells the hub that it is gone.
  void navigator.locks.request(lock, () => new Promise(() => {}));
  if (typeof SharedWorker !== 'function') connectTabs(lock, again);
  // The server may be of another build, and not have its code.
  else
    connectWorker(() => {
      connectTabs(lock, again);
      hello();
    });
  session.subscribe(hello);
  listen(async ({ type }) => {
    if (type !== 'session_ended') return;
    const before = session.peek();
    await readSession();
    // It could not be read, and nothing else would connect this tab again.
    if (session.peek() === before) setTimeout(hello, AGAIN_MS);
  });
  addEventListener('pagehide', () => send({ type: 'bye' }));
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) again();
  });
  addEventListener('online', retryNow);
  addEventListener('offline', retryNow);
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && link.peek().state !== 'live') retryNow();
  });
}

/** @param onFailure called when the worker's code could not be loaded */
function connectWorker(onFailure: () => void): void {
  const worker = new SharedWorker(workerUrl('live'), { type: 'module', name: 'live' });
  worker.addEventListener('error', onFailure, { once: true });
  worker.port.onmessage = ({ data }: MessageEvent<ToTab>) => receive(data);
  send = (message) => worker.port.postMessage(message);
}

interface Envelope {
  /** The lock name of the tab that sends or receives it. */
  tab: string;
  up?: FromTab;
  down?: ToTab;
}

function connectTabs(own: string, hello: () => void): void {
  const channel = new BroadcastChannel('live');
  let hub: Hub | null = null;
  const tabs = new Map<string, Tab>();
  const receiveFromTab = (from: string, message: FromTab): void => {
    if (!hub) return;
    const down = (answer: ToTab): void =>
      from === own ? receive(answer) : channel.postMessage({ tab: from, down: answer } satisfies Envelope);
    const tab = tabs.get(from) ?? { send: down };
    tabs.set(from, tab);
    hub.receive(tab, message);
    if (message.type === 'hello' && from !== own) void navigator.locks.request(from, () => hub?.leave(tab));
  };
  channel.onmessage = ({ data }: MessageEvent<Envelope | 'leading'>) => {
    if (data === 'leading') hello();
    else if (data.up) receiveFromTab(data.tab, data.up);
    else if (data.down && data.tab === own) receive(data.down);
  };
  send = (message) => {
    if (hub) receiveFromTab(own, message);
    else channel.postMessage({ tab: own, up: message } satisfies Envelope);
  };
  let stop = new AbortController();
  const lead = async (): Promise<void> => {
    stop = new AbortController();
    const { signal } = stop;
    try {
      await navigator.locks.request('live', { signal }, async () => {
        // Loaded on demand: browsers with SharedWorker run it there.
        hub = new (await load(() => import('./hub.ts'))).Hub(location.origin);
        channel.postMessage('leading');
        hello();
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
        for (const tab of tabs.values()) hub.leave(tab);
        tabs.clear();
        hub = null;
      });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  };
  void lead();
  // Browsers of phones freeze a tab in the background although it holds the lock or waits for it, and others would wait.
  document.addEventListener('freeze', () => stop.abort());
  document.addEventListener('resume', () => {
    if (!stop.signal.aborted) return;
    void lead();
    hello();
  });
}
