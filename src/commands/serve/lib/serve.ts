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
import { type Faults, hasFaults, readTeamOptions, readWait, refusal } from './team-options.ts';
import { runWorkers, type Serving, serveAsWorker } from './workers.ts';

/** What the server is told, from flags and the few variables that count here. */
export async function readServeOptions(flags: ServeFlags): Promise<ServeOptions & { workers: number }> {
  const { env } = runtime();
  const format = flags['log-format'] ?? (process.stderr.isTTY ? 'text' : 'json');
  const faults: Faults = { general: [], storage: [] };
  const storage = await readStorage(flags, env, faults);
  return {
    ...(flags.team ? readTeamOptions(flags, env, storage, faults) : await readLocalOptions(flags, faults)),
    ...storage,
    ...(flags['log-level'] ? { logLevel: flags['log-level'] } : {}),
    logFormat: format === 'json' ? 'json' : 'text',
    migrate: flags['no-migrate'] !== true,
  };
}

async function readLocalOptions(
  flags: ServeFlags,
  faults: Faults,
): Promise<Pick<ServeOptions, 'dataDir' | 'host' | 'port' | 'portFixed' | 'waitForDb'> & { workers: number }> {
  const { folders, env } = runtime();
  const waitForDb = readWait(flags, env, 0, faults);
  if (hasFaults(faults)) throw refusal(faults);
  const address = flags.listen
    ? { ...parseAddress(flags.listen, '--listen'), source: 'chosen' }
    : await claimLocalAddress(folders, env);
  return {
    dataDir: flags.data === undefined ? folders.data : absolute(flags.data),
    host: address.host,
    port: address.port,
    portFixed: address.source === 'chosen',
    waitForDb,
    workers: 1,
  };
}

/** The server's part of the program. Loaded only where it is used, because it brings the databases along. */
export const loadServer = () => loadPacked<typeof import('../../../server/entry.ts')>('server', 'server/entry');

/**
 * Serves until a signal; the first one lets requests finish, a second one does not.
 * @param workers more than 1: this process serves nothing itself, but looks after so many that do
 */
export async function runServer(options: ServeOptions, out: Output, workers = 1): Promise<void> {
  // Nothing is served yet that could be finished, nor replaced.
  endWith((signal) => {
    if (signal !== 'SIGHUP' || workers === 1) process.exit(EXIT.done);
  });
  if (workers > 1 && cluster.isPrimary) return superviseWorkers(options, out, workers);
  makeFolder(options.dataDir);
  const { startServer } = await loadServer();
  // Of all workers the first one looks whether Postgres has room for them, once.
  const again = (cluster.worker?.id ?? 1) > 1;
  const server = await startServer({ ...options, processes: again ? 0 : workers, supervised: cluster.isWorker }).catch(
    failWith,
  );
  if (cluster.isWorker) return serveAsWorker(server);
  if (server.mode === 'team') announceTeam(server, out);
  else announce(server, out);
  await new Promise<void>((resolve, reject) => {
    let ending = false;
    void server.failed.then((error) => server.close().then(() => reject(asFailure(error)), reject));
    endWith((signal) => {
      // A closed terminal, which the shell and the system may both tell: requests finish all the same.
      if (ending && signal === 'SIGHUP') return;
      if (ending) process.exit(exitAfter[signal]);
      ending = true;
      out.note('Stopping; running requests finish first.');
      server.close().then(resolve, reject);
    });
  });
}

async function superviseWorkers(options: ServeOptions, out: Output, workers: number): Promise<void> {
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

/** Where the database and the files are, and how many connections and bytes these may take. */
async function readStorage(
  flags: ServeFlags,
  env: Env,
  faults: Faults,
): Promise<Pick<ServeOptions, 'db' | 'files' | 'filesQuota' | 'dbPool'>> {
  const db = flags.db ?? (env.SERVICE_DB || undefined);
  const files = flags.files ?? (env.SERVICE_FILES || undefined);
  const sources = {
    db: flags.db === undefined ? 'SERVICE_DB' : '--db',
    files: flags.files === undefined ? 'SERVICE_FILES' : '--files',
  };
  const exposed = exposedPassword(flags.db);
  if (exposed) faults.storage.push(`${sources.db}: ${exposed.message} ${exposed.hint}`);
  const { storageFaults } = await loadServer();
  for (const { setting, error } of storageFaults(db, files))
    faults.storage.push(`${sources[setting]}: ${error.message} ${error.hint}`);
  const quota = env.SERVICE_FILES_QUOTA_BYTES || '0';
  if (!/^\d{1,15}$/.test(quota))
    faults.general.push(`SERVICE_FILES_QUOTA_BYTES is "${quota}", but must be a number of bytes`);
  const pool = env.SERVICE_DB_POOL || '';
  if (pool !== '' && !/^([2-9]|[1-9]\d|100)$/.test(pool))
    faults.general.push(`SERVICE_DB_POOL is "${pool}", but must be a number of 2 to 100`);
  const limits = { filesQuota: Number(quota), ...(pool ? { dbPool: Number(pool) } : {}) };
  return { ...(db ? { db } : {}), ...(files ? { files } : {}), ...limits };
}

/** The database that a flag or variable names. @throws Failure for a password in the flag, and for a URL of another form. */
export async function database(flag: string | undefined, env: Env): Promise<string | undefined> {
  const exposed = exposedPassword(flag);
  if (exposed) throw exposed;
  const { storageFaults, withoutPassword } = await loadServer();
  const usual = env.SERVICE_DB || undefined;
  // What is printed of a database has no password.
  const isUsual = usual !== undefined && flag === withoutPassword(usual);
  const url = isUsual ? usual : (flag ?? usual);
  const [fault] = storageFaults(url, undefined);
  if (!fault) return url;
  const { code, message, hint } = fault.error;
  throw new Failure(code, message, { hint, exit: EXIT.usage });
}

/** A password on the command line can be read by everyone on the machine. */
const exposedPassword = (url = ''): Failure | null =>
  /^postgres(ql)?:\/\/([^@/?]*:[^@/?]+@|.*[?&]password=)/.test(url)
    ? new Failure('storage_unsupported', 'A password in --db can be seen by everyone on this machine.', {
        hint: 'Set SERVICE_DB, PGPASSWORD or PGPASSFILE instead',
        exit: EXIT.usage,
      })
    : null;

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
