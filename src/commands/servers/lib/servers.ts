/** Lists, names and forgets the servers that this machine knows, and sets the default one. */
import { runtime } from '../../../cli/runtime.ts';
import { Failure, usage } from '../../../local/failure.ts';
import { type Credentials, localEntry, readCredentials, updateCredentials } from '../../../local/keys/credentials.ts';
import { forgetKey } from '../../../local/keys/keystore.ts';
import { type KnownServer, knownServers, namedServer, usualServer } from '../../../local/servers.ts';

interface ServerRow {
  name: string;
  url: string;
  local: boolean;
  default: boolean;
  handle: string | null;
  key: string | null;
  seats: number;
}

/** All known servers; nothing is sent. The default is the one in use where nothing names another. */
export function listServers(): { servers: ServerRow[]; default: string | null } {
  const { folders, env } = runtime();
  const saved = readCredentials(folders);
  const servers = knownServers(saved, folders, env).map((server) => row(server, saved));
  return { servers, default: servers.find((server) => server.default)?.url ?? null };
}

/** Chooses the server that is used where nothing names another. */
export async function useServer(name: string): Promise<{ server: ServerRow; previous: string | null }> {
  const { folders, env } = runtime();
  return updateCredentials(folders, (saved) => {
    const server = namedServer(name, saved, folders, env);
    const previous = saved.default;
    saved.default = savedOrigin(server, saved);
    return { server: row(server, saved), previous };
  });
}

/** What a server may be called. */
const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

/** Gives a server another name. @throws Failure `server_unknown`, `invalid_request` for an invalid name, or one that is taken. */
export async function nameServer(known: string, name: string): Promise<{ server: ServerRow; previous: string }> {
  const { folders, env } = runtime();
  if (!NAME.test(name)) throw usage(`"${name}" is no name: small letters, digits and hyphens, at most 40.`);
  return updateCredentials(folders, (saved) => {
    const { entry, local } = namedServer(known, saved, folders, env);
    if (local || name === 'local') throw usage('local is always this machine’s own server.', 'service servers list');
    if (!entry)
      throw new Failure('server_unknown', `Nothing is saved about ${known}.`, { hint: 'service servers list' });
    const of = Object.values(saved.servers).find((server) => server.server_id === entry.server_id) ?? entry;
    const holder = Object.values(saved.servers).find((server) => server.name === name);
    if (holder && holder !== of) throw usage(`Another server is called ${name}.`, 'service servers list');
    const previous = of.name;
    of.name = name;
    return { server: row(namedServer(name, saved, folders, env), saved), previous };
  });
}

/** Names of the agents whose tokens would be lost. */
export function tokensHeld(name: string): string[] {
  const { folders, env } = runtime();
  const { entry } = namedServer(name, readCredentials(folders), folders, env);
  return Object.values(entry?.seats ?? {})
    .filter((seat) => seat.token)
    .map((seat) => `${seat.name} on ${seat.board}`);
}

/** Drops what is saved about a server. */
export async function forgetServer(name: string): Promise<{ server: ServerRow; previous: string | null }> {
  const { folders, env } = runtime();
  const saved = readCredentials(folders);
  const server = namedServer(name, saved, folders, env);
  if (!server.entry)
    throw new Failure('server_unknown', `Nothing is saved about ${name}.`, { hint: 'service servers list' });
  await forgetKey(server.entry);
  return updateCredentials(folders, (now) => {
    const known = Object.entries(now.servers).find(([, entry]) => entry.server_id === server.entry?.server_id);
    const result = { server: row(server, now), previous: now.default };
    if (known) delete now.servers[known[0]];
    if (now.default !== null && !now.servers[now.default]) now.default = null;
    return result;
  });
}

/** The key of a server's entry: that of the local one may still name an earlier port. */
function savedOrigin(server: KnownServer, saved: Credentials): string {
  return (server.local ? localEntry(saved)?.[0] : undefined) ?? server.origin;
}

function row(server: KnownServer, saved: Credentials): ServerRow {
  const { folders, env } = runtime();
  const { name, origin, local, entry } = server;
  return {
    name,
    url: origin,
    local,
    default: usualServer(saved, folders, env).origin === origin,
    handle: entry?.person?.handle ?? null,
    key: entry?.key?.store ?? null,
    seats: Object.values(entry?.seats ?? {}).filter((seat) => seat.token).length,
  };
}
