/** Lists, names and forgets the servers that this machine knows, and sets the default one. */
import type { z } from 'zod';
import { runtime } from '../../../cli/runtime.ts';
import { type Credentials, readCredentials } from '../../../local/keys/credentials.ts';
import { type KnownServer, knownServers, usualServer } from '../../../local/servers.ts';
import type { knownServer } from './shapes.ts';

type ServerRow = z.infer<typeof knownServer>;

/** All known servers; nothing is sent. The default is the one in use where nothing names another. */
export function listServers(): { servers: ServerRow[]; default: string | null } {
  const { folders, env } = runtime();
  const saved = readCredentials(folders);
  const servers = knownServers(saved, folders, env).map((server) => serverRow(server, saved));
  return { servers, default: servers.find((server) => server.default)?.url ?? null };
}

/** What is shown of a known server. */
export function serverRow(server: KnownServer, saved: Credentials): ServerRow {
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
