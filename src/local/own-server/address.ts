/** Where this machine's own server listens. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { usage } from '../failure.ts';
import type { Env, Folders } from '../folders.ts';
import { withLock } from '../lock.ts';
import { writePrivate } from '../private-file.ts';

const DEFAULT_PORT = 7400;

interface LocalAddress {
  host: string;
  port: number;
  /** `chosen`: a person named it, so no other may be used; the others may move when the port is taken. */
  source: 'chosen' | 'recorded' | 'default';
}

/** From SERVICE_LOCAL_ADDR, else the recorded address, else the default port. */
export function localAddress(folders: Folders, env: Env = process.env): LocalAddress {
  if (env.SERVICE_LOCAL_ADDR)
    return { ...parseAddress(env.SERVICE_LOCAL_ADDR, 'SERVICE_LOCAL_ADDR'), source: 'chosen' };
  const recorded = readRecorded(folders);
  if (recorded) return { ...recorded, source: 'recorded' };
  return { host: '127.0.0.1', port: DEFAULT_PORT, source: 'default' };
}

/** As `localAddress`; under SERVICE_HOME a free port is picked and recorded first, so that several homes coexist. */
export async function claimLocalAddress(folders: Folders, env: Env = process.env): Promise<LocalAddress> {
  const known = localAddress(folders, env);
  if (known.source !== 'default' || !folders.home) return known;
  return withLock(join(folders.data, 'server.addr.lock'), async () => {
    const again = localAddress(folders, env);
    if (again.source !== 'default') return again;
    const port = await freePort();
    writePrivate(join(folders.data, 'server.addr'), `127.0.0.1:${port}\n`);
    return { host: '127.0.0.1', port, source: 'recorded' };
  });
}

/** The origin of an address. */
export function originOf(address: { host: string; port: number }): string {
  return `http://${address.host}:${address.port}`;
}

/**
 * Reads `127.0.0.1:7401`; anything that is not a loopback address and port is a usage error naming its source. So is port
 * 80: programs leave it out of the address that they ask for, which then is none of this server's.
 */
export function parseAddress(text: string, source: string): { host: string; port: number } {
  const match = /^(127\.0\.0\.1|localhost|\[::1\]):(\d{1,5})$/.exec(text.trim());
  const port = Number(match?.[2]);
  if (!match || port < 1 || port === 80 || port > 65_535) {
    const rule = 'must be a loopback address and a port other than 80';
    throw usage(`${source} ${rule}, but is "${text}".`, 'It looks like 127.0.0.1:7401');
  }
  return { host: '127.0.0.1', port };
}

function readRecorded(folders: Folders): { host: string; port: number } | null {
  const path = join(folders.data, 'server.addr');
  try {
    return parseAddress(readFileSync(path, 'utf8'), path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await once(probe.close(), 'close');
  return port;
}
