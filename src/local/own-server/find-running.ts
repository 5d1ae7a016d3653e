/** Finds this machine's own server if its pid file is lost or damaged, and proves that a process is that server. */
import { readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Env, Folders } from '../folders.ts';
import { writePrivate } from '../private-file.ts';
import { processStartMs } from '../process-ref.ts';
import { localAddress, originOf } from './address.ts';
import { ownAgent } from './own-agent.ts';
import { type FoundServer, type PidFile, probe } from './probe.ts';

/** Reads processes from /proc on Linux; other systems have no equivalent. */
export interface Place {
  folders: Folders;
  env: Env;
  proc?: string;
}

/** Some systems report the start time of a process only to the second. */
const CLOCK_TOLERANCE_MS = 2_000;

/** The server that provably runs on our data folder, or null. Its pid file is written again if possible. */
export async function findServer(place: Place): Promise<FoundServer | null> {
  if (hasProc(place.proc)) return findByLock(place);
  return findBySecret(place);
}

/**
 * Whether the process holds the lock of our data folder; on systems without /proc, whether it was running when the file was
 * written. A pid in a file proves nothing: the process may be another program, which must not be signalled.
 */
export async function isOurServer(running: PidFile, { folders, proc = '/proc' }: Place): Promise<boolean> {
  if (!hasProc(proc)) return processStartMs(running.pid) <= Date.parse(running.started_at) + CLOCK_TOLERANCE_MS;
  const lock = lockOf(folders);
  return lock !== null && openFiles(proc, running.pid).includes(lock);
}

async function findByLock({ folders, proc = '/proc' }: Place): Promise<FoundServer | null> {
  const lock = lockOf(folders);
  if (lock === null) return null;
  for (const name of readdirSync(proc).filter((entry) => /^\d+$/.test(entry))) {
    const pid = Number(name);
    const files = openFiles(proc, pid);
    if (!files.includes(lock)) continue;
    const port = listening(proc).find(({ socket }) => files.includes(socket))?.port;
    // A server that is starting or stopping does not listen.
    if (port === undefined) continue;
    const url = originOf({ host: '127.0.0.1', port });
    const info = await probe(url);
    if (!info) continue;
    const started_at = statSync(join(proc, name)).mtime.toISOString();
    return rewritePidFile(folders, { pid, url, version: info.version, started_at });
  }
  return null;
}

/** The process that listens at our server's address and proves to be our server. */
async function findBySecret({ folders, env }: Place): Promise<FoundServer | null> {
  const url = originOf(localAddress(folders, env));
  const standing = await ownAgent(folders).ask(url, 1000);
  return standing.is === 'ours' ? { pid: null, url, version: standing.info.version, started_at: null } : null;
}

function rewritePidFile(folders: Folders, server: PidFile): PidFile {
  try {
    writePrivate(join(folders.data, 'server.pid'), `${JSON.stringify(server)}\n`);
  } catch {
    // On a full disk, the next command finds it this way again.
  }
  return server;
}

function hasProc(proc = '/proc'): boolean {
  return statSync(join(proc, 'net', 'tcp'), { throwIfNoEntry: false }) !== undefined;
}

function lockOf(folders: Folders): string | null {
  try {
    return realpathSync(join(folders.data, 'server.lock'));
  } catch {
    return null;
  }
}

/** The open files of a process; none for one of another user, or one that has ended. */
function openFiles(proc: string, pid: number): string[] {
  const folder = join(proc, String(pid), 'fd');
  try {
    return readdirSync(folder).map((fd) => linkOf(join(folder, fd)));
  } catch {
    return [];
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** Sockets that accept connections on 127.0.0.1. */
function listening(proc: string): { socket: string; port: number }[] {
  const rows = readFileSync(join(proc, 'net', 'tcp'), 'utf8')
    .trim()
    .split('\n')
    .slice(1);
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, address, , state]) => state === '0A' && address?.startsWith('0100007F:'))
    .map((columns) => ({
      socket: `socket:[${columns[9]}]`,
      port: Number.parseInt((columns[1] as string).slice(9), 16),
    }));
}
