/** Binding the address: the one asked for, or the next free one where that is allowed. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { ServeError } from './serve-error.ts';

/** How many ports are tried after the first. */
const TRIES = 100;

/** @returns the port that was taken, if another one had to be used. @throws ServeError `address_in_use`, `address_unusable`. */
export async function listen(
  server: Server,
  { host, port, portFixed }: { host: string; port: number; portFixed: boolean },
): Promise<{ movedFrom: number | null }> {
  const last = portFixed ? port : Math.min(port + TRIES, 65_535);
  for (let candidate = port; candidate <= last; candidate++) {
    try {
      await once(server.listen(candidate, host), 'listening');
      return { movedFrom: candidate === port ? null : port };
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'EADDRINUSE') throw unusable(`${host}:${candidate}`, code === 'EACCES', message);
    }
  }
  throw new ServeError(
    'address_in_use',
    `Something else listens on ${host}:${port}.`,
    'Stop it, or choose another address with --listen 127.0.0.1:PORT.',
  );
}

const unusable = (address: string, forbidden: boolean, message: string): ServeError =>
  new ServeError(
    'address_unusable',
    `The server cannot listen on ${address}: ${message}.`,
    forbidden
      ? 'Ports below 1024 are for the system: choose a higher one with --listen, behind the proxy that ends TLS.'
      : 'Name an address that this machine has, with --listen ADDR:PORT; 0.0.0.0 and [::] stand for all.',
  );
