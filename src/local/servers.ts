/** Resolves the server of a command. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.ts';
import type { Env, Folders } from './folders.ts';
import { type Credentials, entryAt, localEntry, type ServerEntry } from './keys/credentials.ts';
import { canonicalOrigin, looksLikeUrl } from './origin.ts';
import { localAddress, originOf } from './own-server/address.ts';
import type { ProjectFile } from './project.ts';

export interface KnownServer {
  origin: string;
  name: string;
  local: boolean;
  /** Null for a local server that was never used. */
  entry: ServerEntry | null;
}

/** Every server this machine knows; the local one is known once it has run here. */
export function knownServers(saved: Credentials, folders: Folders, env: Env): KnownServer[] {
  const team = teamServers(saved).filter(({ entry }) => !isOnlyBegun(entry));
  const localKnown = localEntry(saved) !== null || existsSync(join(folders.data, 'local-key'));
  return localKnown ? [localServer(saved, folders, env), ...team] : team;
}

const teamServers = (saved: Credentials) =>
  Object.entries(saved.servers)
    .filter(([, entry]) => entry.mode !== 'local')
    .map(([origin, entry]) => ({ origin, name: entry.name, local: false, entry }));

/** A server with only a pending sign-in or invite is not known yet. */
const isOnlyBegun = ({ pending, key, person, seats }: ServerEntry): boolean =>
  pending !== undefined && key === null && person === null && Object.keys(seats).length === 0;

/** The command that gets a working key for a server; the local server creates one when it starts. */
export const loginCommand = (origin: string, local: boolean): string =>
  local ? 'service server restart' : `service login ${origin}`;

/** This machine's own server, known or not. */
export function localServer(saved: Credentials, folders: Folders, env: Env): KnownServer {
  const entry = localEntry(saved)?.[1] ?? null;
  return { origin: originOf(localAddress(folders, env)), name: 'local', local: true, entry };
}

/**
 * The server named by `--server`, SERVICE_SERVER or a project file: a name, an address or `local`.
 *
 * @param begun also one with only a pending sign-in or invite
 */
export function namedServer(
  name: string,
  saved: Credentials,
  folders: Folders,
  env: Env,
  { begun = false } = {},
): KnownServer {
  const local = localServer(saved, folders, env);
  if (name === 'local') return local;
  const origin = looksLikeUrl(name) ? canonicalOrigin(name) : null;
  const found = teamServers(saved).find(
    (server) => (origin ? server.origin === origin : server.name === name) && (begun || !isOnlyBegun(server.entry)),
  );
  if (found) return found;
  // A project file, or a person, may name an address that the local server had before.
  if (origin && (origin === local.origin || entryAt(saved, origin)?.[1].mode === 'local')) return local;
  throw new Failure('server_unknown', `This machine does not know the server ${name}, so nothing was sent there.`, {
    hint: origin ? `Sign in first: service login ${origin}` : 'See the known ones: service servers list',
  });
}

/** A person's server, and which step of the rule chose it. */
export interface ChosenServer extends KnownServer {
  by: 'name' | 'project' | 'use' | 'login' | 'rest';
}

/** The rule of `personServer`, as shown to people. */
export const SERVER_RULE =
  'Used is the server of --server, else SERVICE_SERVER, else the one of the folder’s board, else the one chosen with service servers use, else the one last logged in to, else the local one.';

/** A person's server: named, else the project's, else the usual one. */
export function personServer(
  choice: { named: string | undefined; project: Pick<ProjectFile, 'server'> | null },
  saved: Credentials,
  folders: Folders,
  env: Env,
): ChosenServer {
  if (choice.named) return { ...namedServer(choice.named, saved, folders, env), by: 'name' };
  if (choice.project) return { ...namedServer(choice.project.server, saved, folders, env), by: 'project' };
  return usualServer(saved, folders, env);
}

/**
 * The default server: the one chosen with `servers use`, else the one last logged in to, else the local one. A person who
 * is logged out everywhere and has no local server must log in again; no local server is started.
 */
export function usualServer(saved: Credentials, folders: Folders, env: Env): ChosenServer {
  const local = localServer(saved, folders, env);
  if (saved.default) {
    // The local one may be chosen before it ever ran, and has another address then.
    const moved = saved.default.startsWith('http://127.0.0.1:') && !(saved.default in saved.servers);
    return { ...(moved ? local : namedServer(saved.default, saved, folders, env)), by: 'use' };
  }
  const known = knownServers(saved, folders, env);
  const loggedIn = known.filter(({ entry }) => entry?.key && entry.logged_in_at !== undefined);
  const last = lastLogin(loggedIn) ?? (known.some((server) => server.local) ? undefined : lastLogin(known));
  return last ? { ...last, by: 'login' } : { ...local, by: 'rest' };
}

/** Of the entries without a login time, the earliest. */
const lastLogin = (servers: KnownServer[]): KnownServer | undefined =>
  servers.toSorted((a, b) => (b.entry?.logged_in_at ?? '').localeCompare(a.entry?.logged_in_at ?? ''))[0];
