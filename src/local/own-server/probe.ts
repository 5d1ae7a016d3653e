/** Reads what a server on this machine reports: in its pid file, and on its port. */
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { ServerInfo } from '../../contract/types.ts';
import type { Folders } from '../folders.ts';
import { parseJson } from '../json.ts';
import { fetchBy } from '../node-fetch.ts';
import { alive } from '../process.ts';

export interface PidFile {
  pid: number;
  url: string;
  version: string;
  started_at: string;
}

/** A server that runs here; without a pid where the system cannot tell which process it is. */
export interface FoundServer extends Omit<PidFile, 'pid' | 'started_at'> {
  pid: number | null;
  started_at: string | null;
}

/** The server in the pid file, if its process is alive. */
export function runningServer(folders: Folders): PidFile | null {
  try {
    const found = JSON.parse(readFileSync(join(folders.data, 'server.pid'), 'utf8')) as PidFile;
    return typeof found.pid === 'number' && typeof found.url === 'string' && alive(found.pid) ? found : null;
  } catch {
    return null;
  }
}

const TIMEOUT_MS = 1000;

/** Whether anything accepts connections there. */
export function accepts(origin: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(origin);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) });
    const finish = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.setTimeout(TIMEOUT_MS, () => finish(false));
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}

export type ProbedInfo = Pick<ServerInfo, 'name' | 'version' | 'server_id' | 'mode'>;

/** The answer to `GET /v1/info` there; null if it is not a board service. */
export async function probe(origin: string): Promise<ProbedInfo | null> {
  try {
    const init = { signal: AbortSignal.timeout(TIMEOUT_MS) };
    const answer = await fetchBy(request, new URL('/v1/info', origin), init, { agent: false, maxBytes: 65_536 });
    return asInfo(await answer.text());
  } catch {
    return null;
  }
}

/** Parses the answer; null if it is not from a board service. */
export function asInfo(text: string): ProbedInfo | null {
  const info = parseJson(text) as ProbedInfo | null;
  return info?.name === 'service' && typeof info.server_id === 'string' ? info : null;
}
