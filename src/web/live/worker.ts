/** The SharedWorker that runs the hub. */
import { Hub, type Tab, type Told } from './hub.ts';
import type { FromTab } from './protocol.ts';

/** Tabs that were opened before the server was upgraded share the worker of their own version of the page. */
const others = new BroadcastChannel('hubs');
const hub = new Hub(location.origin, (message) => others.postMessage(message));
others.onmessage = ({ data }: MessageEvent<Told>) => hub.hear(data);
hub.lead(false);

/** Aborted when no tab needs the hub; null: none does. */
let needed: AbortController | null = null;

/** One worker has the streams, because all share the browser's few connections: that of the page that was opened last. */
async function takeStreams(signal: AbortSignal): Promise<void> {
  const lead = async (): Promise<void> => {
    if (signal.aborted) return;
    hub.lead(true);
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  };
  for (let options: LockOptions = { steal: true }; !signal.aborted; options = { signal }) {
    // Fails when another worker takes them.
    await navigator.locks.request('streams', options, lead).catch(() => {});
    if (!signal.aborted) hub.lead(false);
  }
}

function changed(): void {
  if (hub.idle) {
    needed?.abort();
    needed = null;
    hub.lead(false);
  } else if (!needed) {
    needed = new AbortController();
    void takeStreams(needed.signal);
  }
}

addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports;
  if (!port) return;
  const tab: Tab = { send: (message) => port.postMessage(message) };
  port.onmessage = ({ data }: MessageEvent<FromTab>) => {
    hub.receive(tab, data);
    changed();
    // A tab that crashes sends no `bye`, but the browser releases its lock.
    if (data.type === 'hello')
      void navigator.locks.request(data.lock, () => {
        hub.leave(tab);
        changed();
      });
  };
});
