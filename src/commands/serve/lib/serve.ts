/** Runs the server: in this process, or in several that it starts. */
import cluster from 'node:cluster';
import { isAbsolute } from 'node:path';
import { EXIT } from '../../../cli/errors.ts';
import type { Output } from '../../../cli/output.ts';
import { called, runtime } from '../../../cli/runtime.ts';
import { endWith, exitAfter } from '../../../cli/signals.ts';
import { Failure, usage } from '../../../local/failure.ts';
import { type Env, makeFolder } from '../../../local/folders.ts';
import { claimLocalAddress, localAddress, parseAddress } from '../../../local/own-server/address.ts';
import { loadPacked } from '../../../local/program.ts';
import type { RunningServer, ServeOptions } from '../../../server/serve.ts';
import type { ServeFlags } from './flags.ts';
import { readTeamOptions, readWait } from './team-options.ts';
import { requireShared, runWorkers, type Serving, serveAsWorker } from './workers.ts';

const MAX_WORKERS = 32;

/** What the server is told, from flags and the few variables that count here. */
export async function readServeOptions(flags: ServeFlags): Promise<ServeOptions> {
  const { env } = runtime();
  const format = flags['log-format'] ?? (process.stderr.isTTY ? 'text' : 'json');
  const db = database(flags.db) ?? env.SERVICE_DB;
  return {
    ...(flags.team ? readTeamOptions(flags, env) : await readLocalOptions(flags)),
    ...(db ? { db } : {}),
    ...filesOptions(flags.files, env),
    ...(flags['log-level'] ? { logLevel: flags['log-level'] } : {}),
    logFormat: format === 'json' ? 'json' : 'text',
    migrate: flags['no-migrate'] !== true,
  };
}

async function readLocalOptions(
  flags: ServeFlags,
): Promise<Pick<ServeOptions, 'dataDir' | 'host' | 'port' | 'portFixed' | 'waitForDb'>> {
  const { folders, env } = runtime();
  const problems: string[] = [];
  const waitForDb = readWait(flags, env, 0, problems);
  if (problems[0]) throw usage(`${problems[0]}.`);
  const address = flags.listen
    ? { ...parseAddress(flags.listen, '--listen'), source: 'chosen' }
    : await claimLocalAddress(folders, env);
  return {
    dataDir: flags.data === undefined ? folders.data : absolute(flags.data),
    host: address.host,
    port: address.port,
    portFixed: address.source === 'chosen',
    waitForDb,
  };
}

/** The server's part of the program. Loaded only where it is used, because it brings the databases along. */
export const loadServer = () => loadPacked<typeof import('../../../server/entry.ts')>('server', 'server/entry');

/** How many processes serve: 1 to 32. @throws Failure `invalid_request` */
export function workersOf(flag: number | undefined, { SERVICE_WORKERS: text = '' }: Env): number {
  const count = flag ?? Number(text || 1);
  if (Number.isInteger(count) && count >= 1 && count <= MAX_WORKERS) return count;
  throw usage(`${flag === undefined ? 'SERVICE_WORKERS' : '--workers'} takes a number of 1 to ${MAX_WORKERS}.`);
}

/**
 * Serves until a signal; the first one lets requests finish, a second one does not.
 * @param workers more than 1: this process serves nothing itself, but looks after so many that do
 */
export async function runServer(options: ServeOptions, out: Output, workers = 1): Promise<void> {
  // Nothing is served yet that could be finished.
  endWith(() => process.exit(EXIT.done));
  if (workers > 1 && cluster.isPrimary) return superviseWorkers(options, out, workers);
  makeFolder(options.dataDir);
  const { startServer } = await loadServer();
  const server = await startServer({ ...options, supervised: cluster.isWorker }).catch(failWith);
  if (cluster.isWorker) return serveAsWorker(server);
  // A closed terminal, which the shell and the system may both tell, or what replaces several workers: requests finish first.
  process.on('SIGHUP', () => {});
  process.once('SIGHUP', () => process.kill(process.pid, 'SIGTERM'));
  if (server.mode === 'team') announceTeam(server, out);
  else announce(server, out);
  await new Promise<void>((resolve, reject) => {
    let ending = false;
    void server.failed.then((error) => server.close().then(() => reject(asFailure(error)), reject));
    endWith((signal) => {
      if (ending) process.exit(exitAfter[signal]);
      ending = true;
      out.note('Stopping; running requests finish first.');
      server.close().then(resolve, reject);
    });
  });
}

async function superviseWorkers(options: ServeOptions, out: Output, workers: number): Promise<void> {
  requireShared(options);
  makeFolder(options.dataDir);
  const { lockFolder } = await loadServer();
  const unlock = await Promise.resolve(options.dataDir).then(lockFolder).catch(failWith);
  const code = await runWorkers(workers, options.dataDir, out, (first) => announceTeam(first, out));
  unlock();
  if (code !== EXIT.done) process.exit(code);
}

function announce(server: RunningServer, out: Output): void {
  const { folders, env } = runtime();
  if (server.movedFrom !== null)
    out.note(`Port ${server.movedFrom} is taken by another program, so this server listens elsewhere.`);
  out.note(`Listening at ${server.url}, for ${server.personHandle} on this machine. Ctrl-C stops it.`);
  const own = server.dataDir === folders.data && server.url.endsWith(`:${localAddress(folders, env).port}`);
  if (own) out.note(called(server.firstStart ? 'Next: service board create general' : 'Next: service board list'));
}

function announceTeam({ listening, url, keyFile, firstStart, personHandle }: Serving, out: Output): void {
  out.note(`Listening at ${listening.host}:${listening.port} for ${url}. Ctrl-C stops it.`);
  if (firstStart && keyFile !== null) {
    out.note(`The first admin is @${personHandle}; the key is in ${keyFile}.`);
    out.note(`Next, on ${personHandle}'s machine: service login ${url}`);
  }
}

/** A data folder, which does not depend on where the command is run. */
export function absolute(path: string): string {
  if (isAbsolute(path)) return path;
  throw usage(`--data takes an absolute path, but got "${path}".`);
}

/** Where the bytes of files are kept, and how many there may be. */
function filesOptions(flag: string | undefined, env: Env): Pick<ServeOptions, 'files' | 'filesQuota'> {
  const files = flag ?? (env.SERVICE_FILES || undefined);
  const quota = env.SERVICE_FILES_QUOTA_BYTES || '0';
  if (!/^\d{1,15}$/.test(quota)) throw usage(`SERVICE_FILES_QUOTA_BYTES takes a number of bytes, but is "${quota}".`);
  return { ...(files === undefined ? {} : { files }), filesQuota: Number(quota) };
}

/** A password on the command line can be read by everyone on the machine. */
export function database(url: string | undefined): string | undefined {
  if (url === undefined) return undefined;
  if (!/^(sqlite|postgres|postgresql):\/\//.test(url))
    throw usage(`--db takes sqlite:///absolute/path or postgres://host/database, but got "${url}".`);
  if (/^postgres(ql)?:\/\/[^@/?]*:[^@/?]+@/.test(url))
    throw new Failure('storage_unsupported', 'A password in --db can be seen by everyone on this machine.', {
      hint: 'Set SERVICE_DB, PGPASSWORD or PGPASSFILE instead',
    });
  return url;
}

function asFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Failure) return error;
  const { code, hint } = error as Error & { code?: unknown; hint?: unknown };
  if (typeof code !== 'string' || typeof hint !== 'string') return error;
  return new Failure(code, error.message, { hint });
}

/** Refuses with what went wrong in the server's part. */
export const failWith = (error: unknown): never => {
  throw asFailure(error);
};
