/** Connections to a Postgres: how one is opened, what its errors mean, and how what was lost comes back. */
import type { Socket } from 'node:net';
import pg from 'pg';
import { type Clock, inTime } from './clock.ts';
import { Contention, Locked, StalePlan, StorageFull, UniqueViolation, Unreachable } from './dialect.ts';
import { forgetServer, knownServer, noteServer, serversToTry } from './postgres-hosts.ts';

/** The name of the connection that each running server has. */
export const LISTENER = 'service-wake';
/** A connection is given up that takes longer to open. */
export const CONNECT_MS = 3_000;
/**
 * Both ends notice within 30 seconds when the other one's host is gone. A lock by name ends with its connection, and by the
 * settings of most systems it would be held for two hours more.
 */
const KEEPALIVE_MS = 10_000;
/** Said once it is open: poolers of sessions refuse these when a connection begins. */
export const KEEPALIVES = `SET tcp_keepalives_idle = ${KEEPALIVE_MS / 1000}; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3`;
/** A migration takes as long as it takes, whatever the database or its user limits others to. Which limits there are depends on its version. */
export const NO_LIMITS =
  "SELECT set_config(name, '0', false) FROM pg_settings WHERE name ~ '^(statement|lock|transaction|idle_in_transaction_session|idle_session)_timeout$'";
/** How a connection is opened that holds a lock. */
export const PATIENCE = {
  keepAlive: true,
  keepAliveInitialDelayMillis: KEEPALIVE_MS,
  connectionTimeoutMillis: CONNECT_MS,
};
/** The code of a server that another one has taken over from. */
export const READ_ONLY = '25006';
const PAUSE_MS = { first: 100, most: 2_000 };
/** For how long the end of a connection is waited for. */
const END_MS = 2_000;

/**
 * Opens a connection of its own, to the server that takes writes.
 * @param lost called once when it has ended. It hears of errors to its end: there may be several.
 * @throws Unreachable
 */
export async function connect(url: string, name: string, lost: () => void = () => {}): Promise<pg.Client> {
  const servers = serversToTry(url);
  for (const [n, server] of servers.entries()) {
    try {
      const client = await open(server, name);
      if (servers.length === 1) return watched(client, lost);
      if (await takesWrites(client)) {
        noteServer(url, server);
        return watched(client, lost);
      }
      await client.end();
    } catch (error) {
      if (n === servers.length - 1) throw error;
    }
  }
  forgetServer(url);
  throw new Unreachable(Object.assign(new Error('none of the servers takes writes'), { code: READ_ONLY }));
}

async function takesWrites(client: pg.Client): Promise<boolean> {
  const { rows } = await translate(client.query<{ transaction_read_only: string }>('SHOW transaction_read_only'));
  return rows[0]?.transaction_read_only === 'off';
}

/** The URL of the server that takes writes, which is looked for only when it is not known. @throws Unreachable */
export async function serverFor(url: string): Promise<string> {
  const known = knownServer(url);
  if (known !== undefined) return known;
  await (await connect(url, 'service-probe')).end();
  return knownServer(url) ?? url;
}

async function open(url: string, name: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: name,
    ...PATIENCE,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(KEEPALIVES);
  } catch (error) {
    void client.end().catch(() => {});
    throw new Unreachable(error);
  }
  return client;
}

/** Calls `lost` once when an open connection has ended. */
function watched(client: pg.Client, lost: () => void): pg.Client {
  let open = true;
  const ended = (): void => {
    if (!open) return;
    open = false;
    void client.end().catch(() => {});
    lost();
  };
  client.on('error', ended);
  client.on('end', ended);
  return client;
}

const streamOf = (client: pg.ClientBase): Socket =>
  (client as pg.ClientBase & { connection: { stream: Socket } }).connection.stream;

/** Ends a connection at once; what it was asked fails. */
export function destroy(client: pg.ClientBase): void {
  streamOf(client).destroy();
}

/** Ends a connection, whose host may have fallen silent. */
export async function end(client: pg.Client | null, clock: Clock): Promise<void> {
  if (client && !(await inTime(clock, END_MS, client.end()).catch(() => true))) destroy(client);
}

/** Ends a connection over which nothing comes or goes for this long: what it was asked fails. */
export function limitSilence(client: pg.ClientBase, ms: number): void {
  streamOf(client).setTimeout(ms, () => destroy(client));
}

/** Sends what is asked of a connection in this turn of the event loop in one packet. */
export function gather(client: pg.ClientBase): void {
  const stream = streamOf(client);
  if (stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/** Repeats what fails until it succeeds, after pauses that grow. */
export async function persist(clock: Clock, work: () => Promise<void>, stopped: () => boolean): Promise<void> {
  for (let pause = PAUSE_MS.first; !stopped(); pause = Math.min(pause * 2, PAUSE_MS.most)) {
    // Jittered: the processes of one database are not to come back all at once.
    const ms = pause * (0.5 + Math.random() / 2);
    await new Promise<void>((resolve) => void clock.after(ms, resolve));
    if (stopped()) return;
    try {
      return await work();
    } catch {
      // Tried again.
    }
  }
}

interface PgError extends Error {
  code?: string;
  constraint?: string;
  routine?: string;
  syscall?: string;
}

/** Serialization failure, deadlock. */
const AT_ONCE = new Set(['40001', '40P01']);
/** Statement timeout, idle in transaction, transaction timeout. */
const LATER = new Set(['57014', '25P03', '25P04']);
/** Connection exception, shutting down, starting or terminated, too many connections, read-only: a standby took over. */
const AWAY = /^(08...|57P0[1-5]|53300|25006)$/;
const NETWORK = /^E(CONN.*|TIMEDOUT|PIPE|NOTFOUND|AI_.*|HOST.*|NET.*|ADDRNOTAVAIL)$/;
/** The driver's own errors have no code. */
const ENDED = /^(Connection terminated|timeout expired)|not queryable|Client was closed/;

/** Whether an error says that the database cannot be reached for now. */
export function isAway(error: unknown): boolean {
  const { code = '', message, syscall } = error as PgError;
  // A socket of the file system that is not there yet.
  if (code === 'ENOENT' && syscall === 'connect') return true;
  return error instanceof Unreachable || AWAY.test(code) || NETWORK.test(code) || ENDED.test(message);
}

/** Whether a database that was asked in vain may answer later: a password that is wrong stays wrong. */
export const mayComeBack = (error: unknown): boolean =>
  error instanceof Unreachable && error.cause ? mayComeBack(error.cause) : isAway(error);

/** Whether a statement has to be prepared anew: its table was altered, or its connection has forgotten what was prepared. */
const isStale = ({ code, routine }: PgError): boolean => code === '26000' || routine === 'RevalidateCachedQuery';

/** Turns the engine's errors into those that the rest of the server knows. Unique indexes are named `table__a__b`. */
export async function translate<T>(query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    const { code, constraint } = error as PgError;
    if (code === '23505') {
      const [table, ...columns] = (constraint ?? '').split('__');
      throw new UniqueViolation(`${table}.${columns.join('+')}`, error);
    }
    if (code === '53100') throw new StorageFull(error);
    if (code === '55P03') throw new Locked(error);
    if (isStale(error as PgError)) throw new StalePlan(error);
    if (code !== undefined && AT_ONCE.has(code)) throw new Contention(`postgres ${code}`, true, error);
    if (code !== undefined && LATER.has(code)) throw new Contention(`postgres ${code}`, false, error);
    if (isAway(error)) throw new Unreachable(error);
    throw error;
  }
}
