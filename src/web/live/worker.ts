/** The worker that all tabs of a browser share: it holds their streams. */
import { Hub, type Tab } from './hub.ts';
import type { FromTab } from './protocol.ts';

const hub = new Hub(location.origin);

addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports;
  if (!port) return;
  const tab: Tab = { send: (message) => port.postMessage(message) };
  port.onmessage = ({ data }: MessageEvent<FromTab>) => {
    hub.receive(tab, data);
    // A tab that ends without a word gives its lock back.
    if (data.type === 'hello') void navigator.locks.request(data.lock, () => hub.leave(tab));
  };
});
