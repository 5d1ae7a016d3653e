/** Makes sure this machine's own server answers, and takes note of who it is. */
import { Client } from '../client/client.ts';
import { ClientError } from '../client/errors.ts';
import { localEntry, type ServerEntry, seatsAt, updateCredentials } from '../local/credentials.ts';
import { Failure } from '../local/failure.ts';
import { readLocalKey } from '../local/keystore.ts';
import { localFetch } from '../local/loopback-fetch.ts';
import { accepts, probe } from '../local/probe.ts';
import { currentServer } from '../local/running.ts';
import type { KnownServer } from '../local/servers.ts';
import type { LocalServer } from '../local/start.ts';
import { olderThan } from '../local/versions.ts';
import { noteAutostart } from './autostarted.ts';
import type { Output } from './output.ts';
import { called, runtime, version } from './runtime.ts';

export interface LocalChoice {
  out: Output;
  autostart: boolean;
}

/** The local server at its true address, started if nobody answered; `pin` saves its identity at the first contact. */
export async function useLocalServer(server: KnownServer, choice: LocalChoice, pin = true): Promise<KnownServer> {
  const running = await startIfNeeded(server, choice);
  const reached = { ...server, origin: running.url };
  await checkRun(server.entry, running, pin);
  if (!pin || isPinned(reached)) return reached;
  return { ...reached, entry: await pinLocal(running.url) };
}

/**
 * `fetch` for the local server: when nobody listens there any more, it is started again and gets the same request, at
 * the address it has then. The request never left, so this is safe for every kind of it.
 */
export function restartingFetch(server: KnownServer, choice: LocalChoice): typeof fetch {
  let { origin } = server;
  const send: typeof fetch = (input, init) => localFetch(`${origin}${String(input).slice(server.origin.length)}`, init);
  return async (input, init) => {
    try {
      return await send(input, init);
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
    origin = (await startedAgain(server, choice)).origin;
    return send(input, init);
  };
}

function isRefused(error: unknown): boolean {
  return ((error as Error | null)?.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED';
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
  const client = new Client({ origin: url, token, userAgent: `service/${version()}`, fetch: localFetch });
  const { data: info } = await client.call('getInfo');
  const { data: me } = await client.call('getMe');
  return updateCredentials(folders, (saved) => {
    const old = localEntry(saved);
    if (!accept) checkIdentity(old?.[1] ?? null, info.server_id);
    if (old) delete saved.servers[old[0]];
    const { former: _former, ...rest } = old?.[1] ?? {};
    const entry: ServerEntry = {
      ...rest,
      server_id: info.server_id,
      name: 'local',
      mode: 'local',
      person: { id: me.id, handle: me.name },
      key: { id: 'local', name: 'local-key', expires_at: null, store: 'local-file' },
      ...seatsAt(old?.[1], info.server_id),
      urls: [...new Set([...(old?.[1].urls ?? []), ...(old ? [old[0]] : []), url])],
    };
    if (saved.default === old?.[0] && old) saved.default = url;
    saved.servers[url] = entry;
    return entry;
  });
}

const mayStart = ({ autostart }: LocalChoice): boolean => autostart && runtime().env.SERVICE_NO_AUTOSTART !== '1';

async function startIfNeeded(server: KnownServer, choice: LocalChoice): Promise<LocalServer> {
  const { env, folders, program } = runtime();
  // The usual case, found without loading what a start needs.
  const found = await currentServer(folders, env);
  if (found && (!mayStart(choice) || !olderThan(found.version, version())) && (await accepts(found.url)))
    return { ...found, started: false, replaced: null, serverId: null };
  if (!mayStart(choice))
    throw new Failure('server_not_running', `The local server at ${server.origin} does not run.`, {
      hint: 'service server start',
    });
  const { ensureLocalServer } = await import('../local/start.ts');
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

/**
 * The identity is asked for once per run of the server, whoever started it: within a run it cannot change, and a
 * command should not pay for the question each time.
 */
async function checkRun(entry: ServerEntry | null, running: LocalServer, note: boolean): Promise<void> {
  const run = `${running.pid} ${running.started_at}`;
  if (!entry || (entry.run === run && !running.serverId)) return;
  const found = running.serverId ?? (await probe(running.url))?.server_id;
  if (!found) return;
  checkIdentity(entry, found);
  if (!note) return;
  await updateCredentials(runtime().folders, (saved) => {
    const own = localEntry(saved);
    if (own?.[1].server_id !== found) return;
    own[1].run = run;
    own[1].urls = [...new Set([...(own[1].urls ?? []), own[0], running.url])];
  }).catch(() => {
    // Where nothing can be written it is asked again the next time.
  });
}

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
