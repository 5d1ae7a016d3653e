/** Ports for servers that a test starts later. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below what Linux gives to connections: a connection of another test may take one of those before the server does. */
const PORTS = { from: 12_000, to: 32_768 };

/** A loopback port that nobody uses right now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to);
    const probe = createServer();
    const free = once(probe, 'listening').then(
      () => true,
      () => false,
    );
    probe.listen(port, '127.0.0.1');
    if (!(await free)) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
}
