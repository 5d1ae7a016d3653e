/** The SharedWorker that runs the hub. */
import { Hub, type Tab } from './hub.ts';
import type { FromTab } from './protocol.ts';

const hub = new Hub(location.origin);

addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports;
  if (!port) return;
  const tab: Tab = { send: (message) => port.postMessage(message) };
  port.onmessage = ({ data }: MessageEvent<FromTab>) => {
    hub.receive(tab, data);
    // A tab that crashes sends no `bye`, but the browser releases its lock.
    if (data.type === 'hello') void navigator.locks.request(data.lock, () => hub.leave(tab));
  };
});
