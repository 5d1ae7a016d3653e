/** Which server a command talks to. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { localAddress, originOf } from './address.ts';
import { type Credentials, localEntry, type ServerEntry } from './credentials.ts';
import { Failure } from './failure.ts';
import type { Env, Folders } from './folders.ts';
import { canonicalOrigin, looksLikeUrl } from './origin.ts';

export interface KnownServer {
  origin: string;
  name: string;
  local: boolean;
  /** Null for a local server that was never spoken to. */
  entry: ServerEntry | null;
}

/** Every server this machine knows; the local one is known once it has run here. */
export function knownServers(saved: Credentials, folders: Folders, env: Env): KnownServer[] {
  const team = Object.entries(saved.servers)
    .filter(([, entry]) => entry.mode !== 'local' && !isOnlyBegun(entry))
    .map(([origin, entry]) => ({ origin, name: entry.name, local: false, entry }));
  const localKnown = localEntry(saved) !== null || existsSync(join(folders.data, 'local-key'));
  return localKnown ? [localServer(saved, folders, env), ...team] : team;
}

/** A server that somebody has begun to come onto is not known yet. */
const isOnlyBegun = ({ pending, key, person, seats }: ServerEntry): boolean =>
  pending !== undefined && key === null && person === null && Object.keys(seats).length === 0;

/** This machine's own server, known or not. */
export function localServer(saved: Credentials, folders: Folders, env: Env): KnownServer {
  const entry = localEntry(saved)?.[1] ?? null;
  return { origin: originOf(localAddress(folders, env)), name: 'local', local: true, entry };
}

/** The server named by `--server`, SERVICE_SERVER or a project file: a name, an address or `local`. */
export function namedServer(name: string, saved: Credentials, folders: Folders, env: Env): KnownServer {
  const local = localServer(saved, folders, env);
  if (name === 'local') return local;
  const origin = looksLikeUrl(name) ? canonicalOrigin(name) : null;
  // A project file may name the port the local server had before.
  if (origin && (origin === local.origin || origin === localEntry(saved)?.[0])) return local;
  const found = knownServers(saved, folders, env).find((server) =>
    origin ? server.origin === origin : server.name === name,
  );
  if (found) return found;
  throw new Failure('server_unknown', `This machine does not know the server ${name}, so nothing was sent there.`, {
    hint: origin ? `Sign in first: service login ${origin}` : 'See the known ones: service servers list',
  });
}

/** A person's server: named, or the project's, or the default, or the only one, or this machine's own. */
export function personServer(
  choice: { named: string | undefined; project: string | undefined },
  saved: Credentials,
  folders: Folders,
  env: Env,
): KnownServer {
  if (choice.named) return namedServer(choice.named, saved, folders, env);
  if (choice.project) return projectServer(choice.project, saved, folders, env);
  if (saved.default) return namedServer(saved.default, saved, folders, env);
  const known = knownServers(saved, folders, env);
  if (known.length === 0) return localServer(saved, folders, env);
  if (known.length === 1) return known[0]!;
  throw new Failure('server_not_selected', 'Several servers are known and none is the default.', {
    hint: `Name one with --server, or choose a default: service servers use ${known[0]!.name}`,
    details: { choices: known.map((server) => server.origin) },
  });
}

/** A project may name an address that this machine's own server had before; a stranger's is not taken for it. */
function projectServer(named: string, saved: Credentials, folders: Folders, env: Env): KnownServer {
  const urls = localEntry(saved)?.[1].urls ?? [];
  if (looksLikeUrl(named) && urls.includes(canonicalOrigin(named))) return localServer(saved, folders, env);
  return namedServer(named, saved, folders, env);
}
