/** Where the daemon keeps its files and its socket. */
import { dirname, join } from 'node:path';
import type { Folders } from '../local/folders.ts';

export type DaemonPaths = ReturnType<typeof daemonPaths>;

/** Longer paths do not fit into a socket address on every system. */
const MAX_SOCKET_BYTES = 100;

export function daemonPaths({ state }: Pick<Folders, 'state'>) {
  const socket = socketPath(state);
  return {
    state,
    lock: join(state, 'daemon.lock'),
    socket,
    /** The folder of the socket, which only this user may open. */
    socketFolder: dirname(socket),
    /** `{pid, protocol, build, started_at, socket}`, for people to read; no program depends on it. */
    info: join(state, 'daemon.json'),
    log: join(state, 'daemon.log'),
    journal: join(state, 'delivery.db'),
    installed: join(state, 'installed.json'),
    launches: join(state, 'launches'),
    upgradeLock: join(state, 'upgrade.lock'),
  };
}

/** In /tmp when the state folder's path is too long. */
function socketPath(state: string): string {
  const own = join(state, 'daemon.sock');
  if (Buffer.byteLength(own) <= MAX_SOCKET_BYTES) return own;
  // Loaded lazily, because hooks start faster without it.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const name = createHash('sha256').update(state).digest('hex').slice(0, 16);
  return join('/tmp', `service-${process.getuid?.() ?? 0}`, `${name}.sock`);
}
