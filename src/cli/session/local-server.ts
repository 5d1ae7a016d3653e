/** Starts this machine's own server if needed, and verifies its identity. */
import { Client } from '../../client/client.ts';
import { ClientError } from '../../client/errors.ts';
import { Failure } from '../../local/failure.ts';
import {
  type Credentials,
  localEntry,
  NOWHERE,
  type ServerEntry,
  seatsAt,
  updateCredentials,
} from '../../local/keys/credentials.ts';
import { readLocalKey } from '../../local/keys/keystore.ts';
import { isOnLoopback, NOT_OURS, ownFetch } from '../../local/own-server/own-agent.ts';
import { currentServer } from '../../local/own-server/running.ts';
import type { LocalServer } from '../../local/own-server/start.ts';
import type { KnownServer } from '../../local/servers.ts';
import { type ChosenServer, knownServers } from '../../local/servers.ts';
import { olderThan } from '../../local/versions.ts';
import type { Output } from '../output.ts';
import { called, noteAutostart, runtime, version } from '../runtime.ts';

interface LocalChoice {
  out: Output;
  autostart: boolean;
}

/** The local server at its true address, started if nobody answered; `pin` saves its identity at the first contact. */
export async function useLocalServer(server: KnownServer, choice: LocalChoice, pin = true): Promise<KnownServer> {
  const running = await startIfNeeded(server, choice);
  if (!isOnLoopback(running.url)) throw isTeams(running.url);
  const reached = { ...server, origin: running.url };
  await checkServer(server.entry, running, pin);
  if (!pin || isPinned(reached)) return reached;
  return { ...reached, entry: await pinLocal(running.url) };
}

/**
 * `fetch` for the local server: when it does not listen there any more, it is started again and gets the same request, at
 * the address it has then. The request never left, so this is safe for every kind of it.
 */
export function restartingFetch(server: KnownServer, choice: LocalChoice): typeof fetch {
  let { origin } = server;
  const own = ownFetch(runtime().folders);
  const send: typeof fetch = (input, init) => own(`${origin}${String(input).slice(server.origin.length)}`, init);
  return async (input, init) => {
    try {
      return await send(input, init);
    } catch (error) {
      if (!isGone(error)) throw error;
    }
    origin = (await startedAgain(server, choice)).origin;
    return send(input, init);
  };
}

/** Nobody listens there, or somebody else does. */
function isGone(error: unknown): boolean {
  const { code } = ((error as Error | null)?.cause ?? {}) as NodeJS.ErrnoException;
  return code === 'ECONNREFUSED' || code === NOT_OURS;
}

/** Where it must not be started somebody else may be about to, so the call's other attempts are worth making. */
async function startedAgain(server: KnownServer, choice: LocalChoice): Promise<KnownServer> {
  try {
    return await useLocalServer(server, choice, false);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { code, message, hint, details } = error;
    const transient = code === 'server_not_running' && !mayStart(choice);
    throw new ClientError(code, message, { hint: called(hint), details, delivery: 'not_sent', transient });
  }
}

/** Saves or renews what this machine knows about its own server. `accept` takes another one for it than was known. */
export async function pinLocal(url: string, accept = false): Promise<ServerEntry | null> {
  const { folders } = runtime();
  const token = readLocalKey(folders);
  if (!token) return null;
  const client = new Client({ origin: url, token, userAgent: `service/${version()}`, fetch: ownFetch(folders) });
  const { data: info } = await client.call('getInfo');
  const { data: me } = await client.call('getMe');
  return updateCredentials(folders, (saved) => {
    const old = localEntry(saved);
    if (!accept) checkIdentity(old?.[1] ?? null, info.server_id);
    // The seats of sessions that run are known by the address under which the server was first saved.
    const stays = old?.[1].server_id === info.server_id && old[0] !== NOWHERE;
    const origin = stays ? old[0] : url;
    if (old) delete saved.servers[old[0]];
    const { former: _former, ...rest } = old?.[1] ?? {};
    const entry: ServerEntry = {
      ...rest,
      server_id: info.server_id,
      name: 'local',
      mode: 'local',
      person: { id: me.id, handle: me.name },
      key: { id: 'local', name: 'local-key', expires_at: null, store: 'local-file' },
      ...seatsAt(old?.[1], info.server_id, me.id),
      urls: [...new Set([...(old?.[1].urls ?? []), ...(old ? [old[0]] : []), url])],
    };
    if (saved.default === old?.[0] && old) saved.default = origin;
    saved.servers[origin] = entry;
    return entry;
  });
}

const mayStart = ({ autostart }: LocalChoice): boolean => autostart && runtime().env.SERVICE_NO_AUTOSTART !== '1';

async function startIfNeeded(server: KnownServer, choice: LocalChoice): Promise<LocalServer> {
  const { env, folders, program } = runtime();
  // The usual case, found without loading what a start needs.
  const found = await currentServer(folders, env);
  if (found?.answers && (!mayStart(choice) || !olderThan(found.version, version())))
    return { ...found, started: false, replaced: null };
  if (!mayStart(choice))
    throw new Failure('server_not_running', `The local server at ${server.origin} does not run.`, {
      hint: 'service server start',
    });
  const { ensureLocalServer } = await import('../../local/own-server/start.ts');
  const running = await ensureLocalServer({ folders, env, program, version: version() });
  if (running.started) announce(server, running, choice.out);
  return running;
}

function announce(server: KnownServer, running: LocalServer, out: Output): void {
  noteAutostart('server');
  out.note(`Started the local server at ${running.url}`);
  // Under SERVICE_HOME the port was chosen only now.
  const { home } = runtime().folders;
  if (server.origin !== running.url && home === null) out.note(`(${server.origin} is taken by another program.)`);
}

/** Known by its person; an entry under another port is renewed at the next sign-in, seats are found all the same. */
function isPinned({ entry }: KnownServer): boolean {
  return entry?.person != null;
}

/** Compares whom we reached with whom we knew, before any credential is sent, and notes where it is now. */
async function checkServer(entry: ServerEntry | null, { url, serverId }: LocalServer, note: boolean): Promise<void> {
  if (!entry || serverId === null) return;
  checkIdentity(entry, serverId);
  if (!note || entry.urls?.includes(url)) return;
  await updateCredentials(runtime().folders, (saved) => {
    const own = localEntry(saved);
    if (own?.[1].server_id !== serverId) return;
    own[1].urls = [...new Set([...(own[1].urls ?? []), own[0], url])];
  }).catch(() => {
    // Where nothing can be written it is noted the next time.
  });
}

/** A team's server may run on the data folder; what belongs to this machine's own is not for its public address. */
const isTeams = (url: string): Failure =>
  new Failure('server_not_running', `A team's server, ${url}, runs on the data folder of the local one.`, {
    hint: `service login ${url}`,
  });

function checkIdentity(entry: ServerEntry | null, serverId: string): void {
  if (!entry || entry.server_id === serverId) return;
  throw new Failure(
    'server_identity_changed',
    'The local server is not the one this machine knew; no credential was sent.',
    {
      hint: 'If its data was moved or deleted on purpose: service login local',
      details: { known: entry.server_id, found: serverId },
    },
  );
}

let said = false;

/** Names the server last logged in to, or the local one, where this machine knows several; once in a run. */
export function sayServer({ name, origin, by }: ChosenServer, saved: Credentials, out: Output): void {
  const { env, folders } = runtime();
  if (said || (by !== 'login' && by !== 'rest') || knownServers(saved, folders, env).length < 2) return;
  said = true;
  out.note(`Server: ${name} (${origin})${by === 'login' ? ', the one last logged in to' : ''}`);
}
