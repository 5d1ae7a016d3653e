/** What a server of this machine says of itself: in its pid file, and on its port. */
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Folders } from '../folders.ts';
import { alive } from '../process.ts';

export interface PidFile {
  pid: number;
  url: string;
  version: string;
  started_at: string;
}

/** A server that runs here; without a pid where the system does not tell which process it is. */
export interface FoundServer extends Omit<PidFile, 'pid' | 'started_at'> {
  pid: number | null;
  started_at: string | null;
}

/** The server that says it runs here, if its process is alive. */
export function runningServer(folders: Folders): PidFile | null {
  try {
    const found = JSON.parse(readFileSync(join(folders.data, 'server.pid'), 'utf8')) as PidFile;
    return typeof found.pid === 'number' && typeof found.url === 'string' && alive(found.pid) ? found : null;
  } catch {
    return null;
  }
}

/** Whether anything accepts connections there. */
export function accepts(origin: string, ms = 1000): Promise<boolean> {
  const { hostname, port, protocol } = new URL(origin);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) });
    const settle = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.setTimeout(ms, () => settle(false));
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}

export interface ProbedInfo {
  name: string;
  version: string;
  server_id: string;
  mode: string;
}

/** What answers `GET /v1/info` there: our kind of server, or null for anything else. */
export async function probe(origin: string, ms = 1000): Promise<ProbedInfo | null> {
  return new Promise((resolve) => {
    const request = get(`${origin}/v1/info`, { timeout: ms, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
        if (text.length > 65_536) request.destroy();
      });
      response.on('end', () => resolve(asInfo(text)));
    });
    request.on('timeout', () => request.destroy());
    request.on('close', () => resolve(null));
    request.on('error', () => resolve(null));
  });
}

/** Reads what a server says of itself; null for what no server of our kind says. */
export function asInfo(text: string): ProbedInfo | null {
  try {
    const info = JSON.parse(text) as ProbedInfo;
    return info.name === 'service' && typeof info.server_id === 'string' ? info : null;
  } catch {
    return null;
  }
}
