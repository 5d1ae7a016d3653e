/** Where the daemon keeps its files and its socket. */
import { dirname, join } from 'node:path';
import type { Folders } from '../local/folders.ts';

export interface DaemonPaths {
  state: string;
  lock: string;
  socket: string;
  /** The folder the socket is in, which only this user may open. */
  socketFolder: string;
  /** `{pid, protocol, build, started_at, socket}`, to look at; nothing is decided by it. */
  info: string;
  log: string;
  journal: string;
  installed: string;
  launches: string;
  upgradeLock: string;
}

/** Longer names do not fit into the address of a socket on every system. */
const MAX_SOCKET_BYTES = 100;

/** @param uid of this user, for the folder that stands in where the state folder's name is too long. */
export function daemonPaths(folders: Pick<Folders, 'state'>, uid = process.getuid?.() ?? 0): DaemonPaths {
  const { state } = folders;
  const socket = socketPath(state, uid);
  return {
    state,
    lock: join(state, 'daemon.lock'),
    socket,
    socketFolder: dirname(socket),
    info: join(state, 'daemon.json'),
    log: join(state, 'daemon.log'),
    journal: join(state, 'delivery.db'),
    installed: join(state, 'installed.json'),
    launches: join(state, 'launches'),
    upgradeLock: join(state, 'upgrade.lock'),
  };
}

function socketPath(state: string, uid: number): string {
  const own = join(state, 'daemon.sock');
  if (Buffer.byteLength(own) <= MAX_SOCKET_BYTES) return own;
  // Loaded here, because hooks start without it sooner.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const name = createHash('sha256').update(state).digest('hex').slice(0, 16);
  return join('/tmp', `service-${uid}`, `${name}.sock`);
}
