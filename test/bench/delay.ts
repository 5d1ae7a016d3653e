/** A stretch of network in front of a server: everything arrives later by the same time, in both directions and in order. */
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../support/free-port.ts';

export interface Delayed {
  port: number;
  close(): void;
}

/** Listens on a port of its own and passes on to another. @param ms of each direction */
export async function delayed(to: number, ms: number): Promise<Delayed> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      from.on('data', (chunk) => later(() => into.write(chunk)));
      from.on('end', () => later(() => into.end()));
      from.on('error', () => into.destroy());
      from.on('close', () => sockets.delete(from));
    }
  });
  // Timers count whole milliseconds; what is left of the time passes in turns of the event loop.
  const queue: { due: number; act: () => void }[] = [];
  let running = false;
  const later = (act: () => void): void => {
    queue.push({ due: performance.now() + ms, act });
    if (!running) pump();
  };
  const pump = (): void => {
    const now = performance.now();
    while (queue.length > 0 && queue[0]!.due <= now) queue.shift()!.act();
    running = queue.length > 0;
    if (!running) return;
    const left = queue[0]!.due - now;
    if (left >= 2) setTimeout(pump, Math.floor(left) - 1);
    else setImmediate(pump);
  };
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
