/** Binding the address: the one asked for, or the next free one where that is allowed. */
import type { Server } from 'node:http';
import { ServeError } from './serve-error.ts';

/** How many ports are tried after the first. */
const TRIES = 100;

/** @returns the port that was taken, if another one had to be used. @throws ServeError `address_in_use`. */
export async function listen(
  server: Server,
  { host, port, portFixed }: { host: string; port: number; portFixed: boolean },
): Promise<{ movedFrom: number | null }> {
  const last = portFixed ? port : Math.min(port + TRIES, 65_535);
  for (let candidate = port; candidate <= last; candidate++) {
    if (await tryListen(server, host, candidate)) return { movedFrom: candidate === port ? null : port };
  }
  throw new ServeError(
    'address_in_use',
    `Something else listens on ${host}:${port}.`,
    'Stop it, or choose another address with --listen 127.0.0.1:PORT.',
  );
}

function tryListen(server: Server, host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) => {
      server.off('listening', bound);
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    };
    const bound = () => {
      server.off('error', failed);
      resolve(true);
    };
    server.once('error', failed);
    server.once('listening', bound);
    server.listen(port, host);
  });
}
