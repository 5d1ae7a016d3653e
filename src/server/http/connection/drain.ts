/** Ending the server's connections without cutting a request that has begun. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** How long a connection that never sent anything may still begin its first request. Milliseconds. */
const FIRST_REQUEST_MS = 250;

/**
 * Watches a server's connections. The returned function closes the server: idle connections at once, busy ones after
 * their answer, all of them after `limitMs`. The platform's own closing keeps connections that were opened ahead and
 * never used.
 */
export function drainable(server: Server): (limitMs: number) => Promise<void> {
  const unused = new Set<Socket>();
  server.on('connection', (socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', (req) => unused.delete(req.socket));

  return async (limitMs) => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // A connection that answered its last request turns idle at any moment of the drain.
    const idle = setInterval(() => server.closeIdleConnections(), 20);
    const never = setTimeout(() => {
      for (const socket of unused) socket.destroy();
    }, FIRST_REQUEST_MS);
    const cut = setTimeout(() => server.closeAllConnections(), limitMs);
    server.closeIdleConnections();
    await closed;
    clearInterval(idle);
    clearTimeout(never);
    clearTimeout(cut);
  };
}
