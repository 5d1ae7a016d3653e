/** A lock by name whose connection ends, while another process waits to have it. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import pg from 'pg';
import { openDatabase } from '../../src/server/db/open.ts';
import { connect } from '../../src/server/db/postgres-connection.ts';
import { forEachDatabase } from '../support/databases.ts';
import { finishedWith, newPostgresDatabase } from '../support/postgres.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { newFolder, remove } from './databases.ts';

const KEY = "7400003, hashtext('files on disk')";
const BACKENDS = "pg_stat_activity WHERE datname = current_database() AND application_name = 'service locks'";

forEachDatabase('the lock of a process that keeps files on its disk', (engine) => {
  // A file of SQLite is served by one process.
  if (engine === 'sqlite') return;

  let server: TestServer;
  /** Another process that wants it, and whoever looks on. */
  let other: pg.Client;
  let watcher: pg.Client;
  const disk = newFolder('disk');
  before(async () => {
    server = await startTestServer(engine, { files: `disk://${disk}` });
    other = new pg.Client(server.databaseUrl);
    watcher = new pg.Client(server.databaseUrl);
    for (const client of [other, watcher]) await client.connect();
  });
  after(async () => {
    for (const client of [other, watcher]) await client.end();
    await server.stop();
    remove(disk);
  });

  const ask = async <R extends pg.QueryResultRow>(sql: string): Promise<R[]> => (await watcher.query<R>(sql)).rows;
  const endIts = () => ask(`SELECT pg_terminate_backend(pid) FROM ${BACKENDS}`);
  const isHeld = async (): Promise<boolean> => {
    const [row] = await ask<{ free: boolean }>(`SELECT pg_try_advisory_xact_lock(${KEY}) AS free`);
    return row?.free === false;
  };
  /** When it last asked for the lock. */
  const asked = async (): Promise<number> => {
    const [row] = await ask<{ at: Date }>(
      `SELECT query_start AS at FROM ${BACKENDS} AND query LIKE '%pg_try_advisory%'`,
    );
    return row?.at.getTime() ?? 0;
  };

  it('is taken again when its connection ends', async () => {
    for (let n = 0; n < 3; n++) {
      const [before] = await ask<{ pid: number }>(`SELECT pid FROM ${BACKENDS}`);
      await endIts();
      const isNew = async () => (await ask(`SELECT pid FROM ${BACKENDS} AND pid <> ${before?.pid}`)).length === 1;
      await until(async () => (await isNew()) && (await isHeld()), 'another connection holds it');
    }
  });

  it('is known not to have been held throughout once its connection ended, though it is held again', async () => {
    const free = (await server.db.claim('a name', 0))!;
    expect(await free.held()).to.equal(true);
    const [before] = await ask<{ pid: number }>(`SELECT pid FROM ${BACKENDS}`);
    await endIts();
    expect(await free.held()).to.equal(false);
    const again = `SELECT pid FROM pg_locks JOIN ${BACKENDS.replace(' WHERE', ' USING (pid) WHERE')} AND locktype = 'advisory' AND pid <> ${before?.pid}`;
    await until(async () => (await ask(again)).length === 2, 'another connection holds both');
    expect(await free.held()).to.equal(false);
    await free();
  });

  it('is waited for no longer than was said, first in this process and then where another one took it', async () => {
    const free = (await server.db.claim('a name', 0))!;
    const taken = other.query("SELECT pg_advisory_lock(7400003, hashtext('a name'))");
    const timers = server.clock.waiting(0);
    const refused = server.db.claim('a name', 0);
    expect(server.clock.waiting(0)).to.equal(timers);
    expect(await refused).to.equal(null);
    const waiting = "pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'";
    await until(async () => (await ask(`SELECT pid FROM ${waiting}`)).length === 1, 'another process waits for it');
    let told: unknown = 'waits';
    void server.db.claim('a name', 30_000).then((claim) => {
      told = claim;
    });
    server.clock.advance(29_000);
    await free();
    await taken;
    await until(async () => (await asked()) > 0, 'it is asked for in vain');
    expect(told).to.equal('waits');
    server.clock.advance(1_000);
    await until(() => told !== 'waits', 'it is given up');
    expect(told).to.equal(null);
    await other.query("SELECT pg_advisory_unlock(7400003, hashtext('a name'))");
  });

  // Only Linux tells when the engine will ask whether the other end is still there.
  if (process.platform === 'linux') {
    it('is free soon after the host of its process is gone, although its connection was never closed', async () => {
      const engine = Number(new URL(server.databaseUrl ?? '').port);
      const bothAskSoon = async (): Promise<boolean> => {
        const [lock] = await ask<{ port: number }>(`SELECT client_port AS port FROM ${BACKENDS}`);
        const seconds = [await keepaliveIn(engine, lock?.port ?? 0), await keepaliveIn(lock?.port ?? 0, engine)];
        return seconds.every((one) => one < 15);
      };
      await until(bothAskSoon, 'each end asks within 15 seconds whether the other is there');
    });

    it('is asked for by a migration over a connection of which both ends ask as soon', async () => {
      const url = await newPostgresDatabase();
      const other = new pg.Client(url);
      await other.connect();
      await other.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public; SELECT pg_advisory_lock(7400001)');
      const opening = openDatabase({ url, clock: server.clock, migrate: true });
      try {
        const engine = Number(new URL(url).port);
        const bothAskSoon = async (): Promise<boolean> => {
          const { rows } = await other.query<{ port: number }>(
            'SELECT client_port AS port FROM pg_stat_activity JOIN pg_locks USING (pid) WHERE objid = 7400001 AND NOT granted',
          );
          const port = rows[0]?.port ?? 0;
          const seconds = [await keepaliveIn(engine, port), await keepaliveIn(port, engine)];
          return seconds.every((one) => one < 15);
        };
        await until(bothAskSoon, 'each end asks within 15 seconds whether the other is there');
      } finally {
        await other.end();
        await (await opening).close();
        finishedWith(url);
      }
    });
  }

  it('is taken through a pooler of sessions, which knows few parameters of a connection that begins', async () => {
    let first: Buffer | null = null;
    const pooler = createServer((socket) => {
      socket.once('data', (bytes) => {
        first = bytes;
        socket.destroy();
      });
    });
    pooler.listen(0, '127.0.0.1');
    await once(pooler, 'listening');
    const { port } = pooler.address() as AddressInfo;
    await connect(`postgres://dana:secret@127.0.0.1:${port}/boards`, 'service locks').catch(() => {});
    pooler.close();
    // Length and version, then names and values, each with a zero behind it.
    const words = String(first).slice(8).split('\0');
    const names = words.filter((word, n) => n % 2 === 0 && word !== '');
    expect(names).to.include('database');
    expect(['user', 'database', 'client_encoding', 'application_name']).to.include.members(names);
  });

  it('is shared by processes that keep them elsewhere, and shared again when a connection ends', async () => {
    const sharing = await startTestServer(engine);
    const looker = new pg.Client(sharing.databaseUrl);
    await looker.connect();
    try {
      const holders = async () => {
        const held = "locktype = 'advisory' AND classid = 7400003 AND mode = 'ShareLock' AND granted";
        const { rows } = await looker.query<{ pid: number }>(
          `SELECT pid FROM pg_locks JOIN ${BACKENDS.replace(' WHERE', ' USING (pid) WHERE')} AND ${held}`,
        );
        return rows.map(({ pid }) => pid);
      };
      const [before] = await holders();
      expect(before).to.be.a('number');
      await looker.query('SELECT pg_terminate_backend($1)', [before]);
      await until(async () => (await holders()).some((pid) => pid !== before), 'another connection shares it');
    } finally {
      await looker.end();
      await sharing.stop();
    }
  });

  it('may be held elsewhere for less than 30 seconds; after that the process says that it cannot go on', async () => {
    let told: Error | null = null;
    void server.failed.then((error) => {
      told = error;
    });
    for (const ms of [29_000, 31_000]) {
      const taken = other.query(`SELECT pg_advisory_lock(${KEY})`);
      const waiting = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`;
      await until(async () => (await ask(waiting)).length === 1, 'another process waits for it');
      await endIts();
      await taken;
      await until(() => server.clock.waiting(30_000) > 0, 'it was asked for in vain');
      const before = await asked();
      server.clock.advance(ms);
      await until(async () => (await asked()) > before || told !== null, 'it was asked for again');
      if (ms > 30_000) break;
      expect(told).to.equal(null);
      await other.query(`SELECT pg_advisory_unlock(${KEY})`);
      await until(isHeld, 'it has it back');
    }
    await until(() => told !== null, 'it says so');
    expect(told).to.include({ code: 'storage_unsupported' });
  });
});

/** In how many seconds this end of a connection on this machine asks whether the other is there; NaN: nothing plans it. */
async function keepaliveIn(near: number, far: number): Promise<number> {
  const hex = (port: number): string => `:${port.toString(16).padStart(4, '0').toUpperCase()}`;
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/));
  const [kind, hundredths = ''] =
    lines.find((line) => line[1]?.endsWith(hex(near)) && line[2]?.endsWith(hex(far)))?.[5]?.split(':') ?? [];
  return kind === '02' ? Number.parseInt(hundredths, 16) / 100 : Number.NaN;
}
