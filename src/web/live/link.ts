/**
 * The tab's end of the browser's streams: a worker that all tabs share, or, where a browser has no such workers, the one tab
 * that holds the lock, which the others reach over a broadcast channel.
 */
import { signal } from '@preact/signals';
import { readSession } from '../api/client.ts';
import { session } from '../api/session.ts';
import { workerUrl } from '../parts/worker.ts';
import type { Hub, Tab } from './hub.ts';
import type { FromTab, Link, ToTab } from './protocol.ts';

/** Whether the page is live. */
export const link = signal<Link>({ state: 'connecting' });

type Listener = (message: ToTab) => void;
const listeners = new Set<Listener>();

/** Calls `listener` with everything that comes; the result ends it. */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let send: (message: FromTab) => void = () => {};
let shown: string | null = null;

/** Asks for the frames of a board; null: of no board. */
export function showBoard(board: string | null): void {
  shown = board;
  send({ type: 'show', board });
}

/** Connects now instead of later. */
export const retryNow = (): void => send({ type: 'retry' });

function take(message: ToTab): void {
  if (message.type === 'link') {
    link.value = message.link;
    document.documentElement.dataset['link'] = message.link.state;
  }
  if (message.type === 'session_ended') void readSession();
  for (const listener of listeners) listener(message);
}

/** Begins, or begins anew for another person. */
export function startLink(): void {
  const lock = `tab-${crypto.randomUUID()}`;
  const hello = (): void => {
    const person = session.peek()?.person.id;
    if (person === undefined) return;
    send({ type: 'hello', lock, person });
    send({ type: 'show', board: shown });
  };
  // Held until the tab ends.
  void navigator.locks.request(lock, () => new Promise(() => {}));
  if (typeof SharedWorker === 'function') connectWorker();
  else connectTabs(lock, hello);
  session.subscribe(hello);
  addEventListener('pagehide', () => send({ type: 'bye' }));
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) hello();
  });
  addEventListener('online', retryNow);
  addEventListener('offline', retryNow);
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && link.peek().state !== 'live') retryNow();
  });
}

function connectWorker(): void {
  const worker = new SharedWorker(workerUrl('live'), { type: 'module', name: 'live' });
  worker.port.onmessage = ({ data }: MessageEvent<ToTab>) => take(data);
  send = (message) => worker.port.postMessage(message);
}

interface Envelope {
  /** The lock of the tab it is for or from. */
  tab: string;
  up?: FromTab;
  down?: ToTab;
}

function connectTabs(own: string, hello: () => void): void {
  const channel = new BroadcastChannel('live');
  let hub: Hub | null = null;
  const tabs = new Map<string, Tab>();
  const receive = (from: string, message: FromTab): void => {
    if (!hub) return;
    const down = (answer: ToTab): void =>
      from === own ? take(answer) : channel.postMessage({ tab: from, down: answer } satisfies Envelope);
    const tab = tabs.get(from) ?? { send: down };
    tabs.set(from, tab);
    hub.receive(tab, message);
    if (message.type === 'hello' && from !== own) void navigator.locks.request(from, () => hub?.leave(tab));
  };
  channel.onmessage = ({ data }: MessageEvent<Envelope | 'leading'>) => {
    if (data === 'leading') hello();
    else if (data.up) receive(data.tab, data.up);
    else if (data.down && data.tab === own) take(data.down);
  };
  send = (message) => {
    if (hub) receive(own, message);
    else channel.postMessage({ tab: own, up: message } satisfies Envelope);
  };
  void navigator.locks.request('live', async () => {
    // Only browsers without shared workers load it here.
    hub = new (await import('./hub.ts')).Hub(location.origin);
    channel.postMessage('leading');
    hello();
    return new Promise(() => {});
  });
}
