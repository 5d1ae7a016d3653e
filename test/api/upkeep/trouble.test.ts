/** A database that fails, or holds something, for a while: what does not need it goes on, and all goes on afterwards. */
import { execFileSync } from 'node:child_process';
import { renameSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import pg from 'pg';
import type { Refusal } from '../../../src/contract/errors.ts';
import { postgresStore } from '../../../src/server/blobs/postgres.ts';
import type { Digest } from '../../../src/server/blobs/store.ts';
import { openDatabase } from '../../../src/server/db/open.ts';
import { PostgresDatabase } from '../../../src/server/db/postgres.ts';
import { LISTENER } from '../../../src/server/db/postgres-connection.ts';
import { forgetServer, noteServer } from '../../../src/server/db/postgres-hosts.ts';
import { SqliteDatabase } from '../../../src/server/db/sqlite.ts';
import type { ReadTx, WriteTx } from '../../../src/server/db/tx.ts';
import { versionsOf } from '../../../src/server/db/versions.store.ts';
import { credentialOf } from '../../../src/server/operation/caller.ts';
import type { Engine } from '../../../src/server/operation/engine.ts';
import { reading } from '../../../src/server/operation/read.ts';
import { startServer } from '../../../src/server/serve.ts';
import { useData } from '../../../src/server/upkeep/data-folder.ts';
import { newFolder, remove } from '../../faults/databases.ts';
import { detailsOf } from '../../support/api.ts';
import { newBoard, post } from '../../support/cast.ts';
import { TestClock } from '../../support/clock.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { put, tryPut } from '../../support/files.ts';
import { finishedWith, newPostgresDatabase } from '../../support/postgres.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

forEachDatabase('a database in trouble', (engine) => {
  if (engine === 'sqlite') {
    it('is read again once its file can be opened again, and can be closed', async () => {
      const folder = newFolder('readers');
      const file = join(folder, 'service.db');
      const url = `sqlite://${file}`;
      await (await openDatabase({ url, clock: new TestClock(), migrate: true })).close();
      const db = new SqliteDatabase(file, new TestClock());
      const count = () => db.read((tx) => tx.query((build) => build('boards').count()));
      renameSync(file, `${file}-away`);
      for (let n = 0; n < 5; n++) expect(await count().catch(({ name }) => name)).to.equal('Unreachable');
      renameSync(`${file}-away`, file);
      expect(await Promise.all(Array.from({ length: 5 }, count))).to.have.length(5);
      await db.close();
      remove(folder);
    });

    it('keeps a program running that only waits for its file', () => {
      const folder = newFolder('waiting');
      const source = (name: string) => JSON.stringify(new URL(`../../../src/server/db/${name}.ts`, import.meta.url));
      const script = `
        import Sqlite from 'better-sqlite3';
        import { systemClock } from ${source('clock')};
        import { SqliteDatabase } from ${source('sqlite')};
        const file = ${JSON.stringify(join(folder, 'service.db'))};
        const [db, other] = [new SqliteDatabase(file, systemClock), new Sqlite(file)];
        other.exec('BEGIN IMMEDIATE');
        setTimeout(() => other.exec('COMMIT'), 100).unref();
        await db.write(async () => process.stdout.write('written'));
        await db.close();
      `;
      expect(execFileSync(process.execPath, ['--input-type=module', '--eval', script]).toString()).to.equal('written');
      remove(folder);
    });

    it('lets each write wait for 5 s of its own while another program has its file', async () => {
      const folder = newFolder('queue');
      const file = join(folder, 'service.db');
      const clock = new TestClock();
      const [db, other] = [new SqliteDatabase(file, clock), new Sqlite(file)];
      other.exec('BEGIN IMMEDIATE');
      const refused: number[] = [];
      let ms = 0;
      const write = (): void =>
        void db.write(async () => {}).catch(({ name }) => refused.push(name === 'Contention' ? ms : Number.NaN));
      for (; ms < 12_000; ms += 20) {
        if (ms % 2_000 === 0 && ms < 6_000) write();
        clock.advance(20);
        await nextTurn();
        await nextTurn();
      }
      expect(refused.map((at) => Math.round(at / 500) / 2)).to.deep.equal([5, 7, 9]);
      const written = db.write(async () => 'written');
      other.exec('COMMIT');
      await passing(clock, written);
      expect(await written).to.equal('written');
      other.close();
      await db.close();
      remove(folder);
    });

    it('is read while another program has its file, and written once that is done with it', async () => {
      const server = await startTestServer(engine);
      const board = (await newBoard(server.dana)).name;
      const other = new Sqlite(join(server.dataDir, 'service.db'));
      try {
        other.exec('BEGIN IMMEDIATE');
        const refused = server.dana.call('postMessage', { params: { board }, body: { body: 'too soon' } });
        expect((await server.dana.call('getBoard', { params: { board } })).status).to.equal(200);
        await passing(server.clock, refused);
        const { status, code, headers } = await refused;
        expect([status, code, headers.get('retry-after')]).to.deep.equal([503, 'unavailable', '1']);
        const [told = '', ...more] = server.log.filter((line) => line.includes('"msg":"refused"'));
        expect(JSON.parse(told)).to.include({ level: 'warn', operation: 'postMessage', status: 503 });
        expect(JSON.parse(told).reason).to.include('another program has the database: database is locked');
        expect([more, told.includes('too soon')]).to.deep.equal([[], false]);

        const waiting = server.dana.call('postMessage', { params: { board }, body: { body: 'in time' } });
        await server.dana.call('getBoard', { params: { board } });
        other.exec('COMMIT');
        await passing(server.clock, waiting);
        expect((await waiting).status).to.equal(201);
      } finally {
        other.close();
        await server.stop();
      }
    });
    return;
  }

  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('is given few connections by a server that has just started', async () => {
    const clock = new TestClock();
    // What it does every second is not part of its start, however long that takes.
    const go = clock.stop();
    const starting = await startTestServer(engine, { clock });
    const connections = 'SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database()';
    const [found] = await starting.db.read(rows(connections));
    expect(found?.n).to.be.at.most(4);
    go();
    await starting.stop();
  });

  it('that is not there is not waited for, on one server or on several', async () => {
    const url = (server.databaseUrl ?? '').replace(/[^/]+$/, 'nowhere');
    const { host } = new URL(url);
    for (const db of [url, url.replace(host, `${host},${host}`)]) {
      const dataDir = newFolder('nowhere');
      const options = { dataDir, db, waitForDb: 60, host: '127.0.0.1', port: 0, portFixed: true };
      const waiting: string[] = [];
      const log = { logTo: { write: (line: string) => void waiting.push(line) } };
      const error = await startServer({ ...options, ...log }).catch((failed) => failed);
      expect(error).to.include({ code: 'storage_unreachable' });
      expect(waiting).to.deep.equal([]);
      remove(dataDir);
    }
  });

  it('that answers no more once a start has begun is waited for as at its beginning', async () => {
    const url = new URL(await newPostgresDatabase());
    let silent = 0;
    const relay = createServer((near) => {
      near
        .on('error', () => {})
        .once('data', (first) => {
          // As one that is stopped for longer than a connection is waited for.
          if (first.includes(LISTENER) && silent-- > 0) return;
          const far = connect(Number(url.port), url.hostname);
          far.on('error', () => {}).on('close', () => near.destroy());
          near.on('close', () => far.destroy());
          far.write(first);
          near.pipe(far).pipe(near);
        });
    });
    await new Promise<void>((resolve) => void relay.unref().listen(0, '127.0.0.1', resolve));
    const through = new URL(url);
    through.port = String((relay.address() as AddressInfo).port);
    const dataDir = newFolder('silent');
    const log: string[] = [];
    const start = (waitForDb: number) => {
      silent = 1;
      const options = {
        dataDir,
        db: through.href,
        files: 'db:',
        waitForDb,
        host: '127.0.0.1',
        port: 0,
        portFixed: true,
      };
      return startServer({ ...options, logTo: { write: (line) => void log.push(line) } });
    };
    const [refused, started] = [await start(0).catch((error) => error), await start(60)];
    expect(refused).to.include({ code: 'storage_unreachable' });
    expect(log.join('')).to.include('waiting for the database');
    await started.close();
    relay.close();
    finishedWith(url.href);
    remove(dataDir);
  }).timeout(30_000);

  it('that takes no writes is called that by a start, on one server or on several', async () => {
    const url = await newPostgresDatabase();
    const client = new pg.Client(url);
    await client.connect();
    await client.query(`ALTER DATABASE ${client.database} SET default_transaction_read_only = on`);
    await client.end();
    const { host } = new URL(url);
    for (const db of [url, url.replace(host, `${host},${host}`)]) {
      const dataDir = newFolder('standby');
      const error = await useData({ dataDir, db }, new TestClock(), async () => {}).catch((failed) => failed);
      expect(error).to.include({ code: 'storage_unreachable' });
      expect(error.message).to.include('takes no writes');
      expect(error.hint).to.include('standby').and.not.include('PGPASSWORD');
      remove(dataDir);
    }
    finishedWith(url);
  });

  const rows = (sql: string) => (tx: ReadTx) => tx.query<{ n: number }>((db) => db.raw(sql));

  it('answers reads that shared a snapshot with one that failed', async () => {
    const read = (sql: string) => server.db.read(rows(sql), { shares: 'look' });
    const [one, failed, two] = await Promise.allSettled([
      read('SELECT 1 AS n'),
      read('SELECT 1 / 0 AS n'),
      read('SELECT 2 AS n'),
    ]);
    expect([one, two].map((each) => each.status === 'fulfilled' && each.value[0]?.n)).to.deep.equal([1, 2]);
    expect(failed.status === 'rejected' && failed.reason.code).to.equal('22012');
  });

  it('answers all requests after a table was altered under its connections, and after these lost what was prepared', async () => {
    const board = (await newBoard(server.dana)).name;
    const at = { params: { board } };
    const { id } = await post(server.dana, board, 'first');
    const work = () => [
      ...[1, 2].map(() => server.dana.call('postMessage', { ...at, body: { body: 'goes on' } })),
      ...[1, 2].map(() => server.dana.call('updateBoard', { ...at, body: { title: 'Goes on' } })),
      ...[1, 2].map(() => server.dana.call('listMessages', at)),
      server.dana.call('listReplies', { params: { message: id } }),
    ];
    const answered = async (after: string) => {
      const statuses = (await Promise.all(work())).map(({ status }) => status);
      expect(statuses, after).to.deep.equal([201, 201, 200, 200, 200, 200, 200]);
    };
    for (let n = 0; n < 3; n++) await answered('as it was');
    for (const table of ['access_keys', 'boards', 'messages']) {
      await server.db.write((tx) => tx.change((db) => db.raw(`ALTER TABLE ${table} ADD COLUMN later integer`)));
      await answered(table);
    }
    const forget = () => server.db.read((tx) => tx.query((db) => db.raw('DEALLOCATE ALL')));
    await Promise.all([forget(), forget(), forget()]);
    await answered('what was prepared is gone');
    expect(server.log.filter((line) => line.includes('unexpected failure'))).to.deep.equal([]);
  });

  it('counts a request once that is read again', async () => {
    const counted: unknown[] = [];
    const engine = {
      db: { read: async (fn: (tx: ReadTx) => Promise<unknown>) => server.db.read(fn).then(() => server.db.read(fn)) },
      admit: (...[, , , moment]: unknown[]) => void counted.push(moment),
      used: async () => {},
    } as unknown as Engine;
    const credential = credentialOf(server.dana.token ?? '', server.root);
    await reading(engine, 'openStream', credential, async (_tx, _caller, admitAs) => admitAs('waiting'));
    expect(counted).to.deep.equal(['known', 'waiting']);
  });

  it('is not read for a client that has gone', async () => {
    const credential = credentialOf(server.dana.token ?? '', server.root);
    const engine = { db: server.db, admit: () => {}, used: async () => {} } as unknown as Engine;
    let read = 0;
    const look = (gone: (left: () => void) => void) =>
      reading(engine, 'getMe', credential, async () => ++read, gone).catch(({ code }: Refusal) => code);
    expect([await look((left) => left()), await look(() => {}), read]).to.deep.equal(['unavailable', 1, 1]);
  });

  it('takes posts to other boards while one board is held by another process', async () => {
    const [held, free] = [await newBoard(server.dana), await newBoard(server.dana)];
    const other = new pg.Client(server.databaseUrl);
    await other.connect();
    await other.query('BEGIN');
    await other.query('SELECT * FROM boards WHERE id = $1 FOR UPDATE', [held.id]);
    const waits = [0, 1, 2].map((n) => post(server.dana, held.name, `waits ${n}`));
    const blocked = () => other.query('SELECT FROM pg_locks WHERE NOT granted');
    await until(async () => (await blocked()).rowCount === 1, 'the posts wait');
    for (let n = 0; n < 5; n++)
      await Promise.all([post(server.dana, free.name, `goes ${n}`), n < 3 && post(server.dana, free.name, 'too')]);
    expect((await blocked()).rowCount, 'the first board is still held').to.be.greaterThan(0);
    await other.query('COMMIT');
    await Promise.all(waits);
    await other.end();
    const { messages } = await server.dana.ok('listMessages', { params: { board: held.name } });
    expect(messages.map(({ body }) => body).sort()).to.deep.equal(['waits 0', 'waits 1', 'waits 2']);
  });

  it('looks at any number of boards at once for what was committed elsewhere', async () => {
    const board = await newBoard(server.dana);
    const keys = Array.from({ length: 70_000 }, (_, n) => `board:none-${n}`);
    const found = await server.db.read((tx) => versionsOf(tx, [...keys, 'account:none', `board:${board.id}`]));
    expect([...found.keys()]).to.deep.equal([`board:${board.id}`]);
  });

  it('whose host lost its power is given up after ten seconds, by a read after twenty, and used again when it is back', async () => {
    const clock = new TestClock();
    const wire = await Wire.to(server.databaseUrl!);
    const db = new PostgresDatabase(wire.url, clock, 2);
    const one = () => db.read(rows('SELECT 1 AS n'));
    // Both connections of its pool are open.
    expect((await Promise.all([one(), one()])).flat()).to.have.length(2);
    const other = new PostgresDatabase(server.databaseUrl!, clock);
    const heard: string[] = [];
    const follower = { committed: () => {}, gap: () => {}, watched: () => [] };
    await db.follow(follower);
    await other.follow({ ...follower, committed: (keys) => heard.push(...keys) });
    const tell = (key: string) => db.write(async (tx) => tx.publish(key));
    const free = (await db.claim('a name', 0))!;
    const go = clock.stop();
    // The wake-up of this one, too, gets no answer.
    await tell('before');
    wire.turn('off');
    const outcomes = [
      one(),
      db.write(async (tx) => tx.change((build) => build('meta').where('name', 'none').delete()), { shares: 'a board' }),
      db.claim('another name', 0),
    ].map((asked) =>
      asked.then(
        () => 'answered',
        ({ name }) => name,
      ),
    );
    // Wake-ups of a moment are sent together.
    clock.advance(5);
    await until(() => wire.unanswered >= 4, 'all four were sent');
    const seconds = async (count: number) => {
      for (let n = 0; n < count; n++) {
        clock.advance(1_000);
        await new Promise(setImmediate);
      }
    };
    await seconds(9);
    expect(await Promise.race([...outcomes, 'none'])).to.equal('none');
    await seconds(2);
    expect(await Promise.all(outcomes.slice(1))).to.deep.equal(['Unreachable', 'Unreachable']);
    await seconds(8);
    expect(await Promise.race([outcomes[0], 'none'])).to.equal('none');
    await seconds(2);
    expect(await outcomes[0]).to.equal('Unreachable');
    wire.turn('on');
    go();
    await until(async () => (await one().catch(() => [])).length === 1, 'it is read again');
    await until(async () => {
      await tell('after').catch(() => {});
      return heard.includes('after');
    }, 'other processes are told');
    await free();
    await db.close();
    await other.close();
    wire.close();
  });

  it('whose host lost its power keeps no process from ending', async () => {
    const clock = new TestClock();
    const wire = await Wire.to(server.databaseUrl!, { allowHalfOpen: true });
    const db = new PostgresDatabase(wire.url, clock);
    await db.follow({ committed: () => {}, gap: () => {}, watched: () => [] });
    await db.claim('a name', 0);
    wire.turn('off');
    let closed = false;
    void db.close().then(() => {
      closed = true;
    });
    await until(() => {
      clock.advance(1_000);
      return closed;
    }, 'it is closed');
    wire.close();
  });

  it('ends a statement of a read after 15 s, one of a write after 5 s, and its wait for a lock after 4 s', async () => {
    const limits = async (tx: ReadTx) => {
      const shown = (name: string) => rows(`SELECT current_setting('${name}') AS n`)(tx);
      const names = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
      return (await Promise.all(names.map(shown))).map(([row]) => row?.n);
    };
    expect(await server.db.read(limits)).to.deep.equal(['15s', '0', '5s']);
    expect(await server.db.write(limits)).to.deep.equal(['5s', '4s', '5s']);
    expect(await server.db.write(limits, { shares: 'a board' })).to.deep.equal(['5s', '250ms', '5s']);
    expect(await server.db.read(limits)).to.deep.equal(['15s', '0', '5s']);
  });

  it('does not run a write again that waited for a lock as long as it may, but lets one go on alone that shared', async () => {
    const { id } = await newBoard(server.dana);
    const other = new pg.Client(server.databaseUrl);
    await other.connect();
    await other.query('BEGIN');
    await other.query('SELECT * FROM boards WHERE id = $1 FOR UPDATE', [id]);
    let runs = 0;
    const wait = (ms?: number) => async (tx: WriteTx) => {
      runs++;
      if (ms !== undefined) await tx.change((db) => db.raw(`SET LOCAL lock_timeout = ${ms}`));
      return tx.query((db) => db('boards').where({ id }).forUpdate().select('id'));
    };
    expect(await server.db.write(wait(10)).catch(({ name }) => name)).to.equal('Contention');
    expect(runs).to.equal(1);
    const shared = server.db.write(wait(), { shares: id });
    await until(() => runs === 3, 'it goes on alone');
    await other.query('COMMIT');
    expect(await shared).to.deep.equal([{ id }]);
    await other.end();
  });

  /** A user of the database who gets so many connections. */
  const limited = async (connections: number) => {
    const admin = new pg.Client(server.databaseUrl);
    await admin.connect();
    const user = `limited_${process.pid}_${Date.now()}`;
    await admin.query(`CREATE ROLE ${user} LOGIN CONNECTION LIMIT ${connections}`);
    const url = new URL(server.databaseUrl!);
    url.username = user;
    const end = async () => {
      const connected = `SELECT FROM pg_stat_activity WHERE usename = '${user}'`;
      await until(async () => (await admin.query(connected)).rowCount === 0, 'nobody is connected');
      await admin.query(`DROP ROLE ${user}`);
      await admin.end();
    };
    return { url: url.href, end };
  };

  it('that takes no more connections lets requests wait for one of those that are open, in their order', async () => {
    const user = await limited(1);
    const clock = new TestClock();
    const db = new PostgresDatabase(user.url, clock, 4);
    const held = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    const holding = db.read(async (tx) => {
      await rows('SELECT 1 AS n')(tx);
      began.resolve();
      await held.promise;
      return 'held';
    });
    await began.promise;
    const order: number[] = [];
    const asked = [1, 2, 3].map((n) =>
      db.read(rows(`SELECT ${n} AS n`)).then(
        () => order.push(n),
        ({ name }) => name,
      ),
    );
    await until(() => clock.waiting(200) > 0, 'more were asked for in vain');
    held.resolve();
    expect(await holding).to.equal('held');
    expect(await Promise.all(asked)).to.deep.equal([1, 2, 3]);
    expect(order).to.deep.equal([1, 2, 3]);
    await db.close();
    await user.end();
  });

  it('that gives this process no connection at all is away after two seconds, and is used once it has one', async () => {
    const user = await limited(1);
    const other = new pg.Client(user.url);
    await other.connect();
    const clock = new TestClock();
    const db = new PostgresDatabase(user.url, clock, 4);
    const go = clock.stop();
    const one = () => db.read(rows('SELECT 1 AS n'));
    let refused: string | null = null;
    void one().catch(({ name }) => {
      refused = name;
    });
    let ms = 0;
    for (const pause of [100, 200, 400, 800]) {
      await until(() => clock.waiting(pause) > 0, 'it was asked for in vain');
      clock.advance(pause);
      ms += pause;
    }
    await until(() => clock.waiting(500) > 0, 'it was asked for in vain');
    expect([refused, ms]).to.deep.equal([null, 1_500]);
    clock.advance(500);
    await until(() => refused !== null, 'it is refused');
    expect(refused).to.equal('Unreachable');
    expect(await one().catch(({ name }) => name)).to.equal('Unreachable');
    await other.end();
    go();
    await until(async () => (await one().catch(() => [])).length === 1, 'it is used');
    await db.close();
    await user.end();
  });

  it('with room for fewer connections than all processes may open is told of by a start', async () => {
    const warnings = async (options: { dbPool?: number; processes?: number }) => {
      const db = await newPostgresDatabase();
      const dataDir = newFolder('connections');
      const lines: string[] = [];
      const logTo = { write: (line: string) => void lines.push(line) };
      const all = { dataDir, db, files: 'db:', host: '127.0.0.1', port: 0, portFixed: true, logTo, ...options };
      await (await startServer(all)).close();
      finishedWith(db);
      remove(dataDir);
      return lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'warn');
    };
    expect(await warnings({})).to.deep.equal([]);
    const [warning, ...more] = await warnings({ dbPool: 50, processes: 6 });
    expect(warning).to.include({ needed: 342, max_connections: 300, processes: 6, pool: 50 });
    expect([warning.msg, more]).to.deep.equal([
      'the database takes fewer connections than this server may open: raise max_connections, or lower SERVICE_DB_POOL or SERVICE_WORKERS',
      [],
    ]);
  });

  it('is asked on no connection to a former host once another one takes the writes', async () => {
    const [former, next] = [await Wire.to(server.databaseUrl!), await Wire.to(server.databaseUrl!)];
    const { host } = new URL(former.url);
    const url = former.url.replace(host, `${host},${new URL(next.url).host}`);
    noteServer(url, former.url);
    const db = new PostgresDatabase(url, new TestClock(), 2);
    const one = () => db.read(rows('SELECT 1 AS n'));
    const store = postgresStore(url, join(server.dataDir, 'files', 'tmp'));
    const files = () => Promise.all([1, 2].map(() => store.stat('none' as Digest)));
    await Promise.all([one(), one(), files()]);
    noteServer(url, next.url);
    // What it is asked on a connection that is left open has an answer, and an old one.
    await files();
    former.turn('off');
    expect([...(await one()), ...(await one())]).to.have.length(2);
    expect(await files()).to.deep.equal([null, null]);
    await db.close();
    await store.close();
    for (const wire of [former, next]) wire.close();
  });

  it('gives up a connection for files too whose host lost its power, and has them when it is back', async () => {
    const board = await newBoard(server.dana);
    const { digest, size } = (await put(server.dana, board.name, 'a.txt', 'kept')).latest;
    const wire = await Wire.to(server.databaseUrl!);
    // Longer than a machine with much to do takes to answer.
    const store = postgresStore(wire.url, join(server.dataDir, 'files', 'tmp'), 3_000);
    expect(await store.stat(digest)).to.include({ size });
    wire.turn('off');
    const asked = store.stat(digest).catch((error: Error) => error.name);
    expect(await asked).to.equal('Unreachable');
    wire.turn('on');
    expect(await store.stat(digest)).to.include({ size });
    await store.close();
    wire.close();
  });

  it('that ends connections for files is what an upload and a download are told of, and not broken files', async () => {
    const board = (await newBoard(server.dana)).name;
    await put(server.dana, board, 'a.bin', Buffer.alloc(9));
    server.log.length = 0;
    const other = new pg.Client(server.databaseUrl);
    await other.connect();
    await other.query('BEGIN; LOCK TABLE blob_chunks');
    const asked = Promise.all([
      tryPut(server.dana, board, 'b.bin', Buffer.alloc(8)),
      server.dana.call('downloadFile', { params: { board, file: 'a.bin', version: 'latest' } }),
    ]);
    const waiting = `FROM pg_locks WHERE NOT granted AND relation = 'blob_chunks'::regclass`;
    await until(async () => (await other.query(`SELECT ${waiting}`)).rowCount === 2, 'both wait for bytes');
    await other.query(`SELECT pg_terminate_backend(pid) ${waiting}`);
    const answers = await asked;
    await other.end();
    for (const answer of answers)
      expect([answer.status, detailsOf(answer)]).to.deep.equal([503, { cause: 'database' }]);
    expect(server.log.filter((line) => line.includes('store_unusable'))).to.deep.equal([]);
  });

  it('refuses what waits for a connection for files while none of several hosts is known to take writes', async () => {
    const board = await newBoard(server.dana);
    const { digest, size } = (await put(server.dana, board.name, 'a.txt', 'kept')).latest;
    const wire = await Wire.to(server.databaseUrl!);
    const { host } = new URL(wire.url);
    const url = wire.url.replace(host, `${host},${host}`);
    noteServer(url, wire.url);
    const store = postgresStore(url, join(server.dataDir, 'files', 'tmp'), 3_000);
    // More than it has connections.
    const ask = () =>
      Promise.all(Array.from({ length: 9 }, () => store.stat(digest).catch((error: Error) => error.name)));
    for (const found of await ask()) expect(found).to.include({ size });
    wire.turn('off');
    forgetServer(url);
    for (const found of await ask()) expect(found).to.equal('Unreachable');
    wire.turn('on');
    noteServer(url, wire.url);
    for (const found of await ask()) expect(found).to.include({ size });
    await store.close();
    wire.close();
  });
});

/** Passes bytes on to a Postgres, until its host loses its power: what is connected then hears nothing any more, not even an end. */
class Wire {
  /** Packets that came to nothing. */
  unanswered = 0;
  readonly url: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** The host that answers new connections; null while it is off. */
  #host: object | null = {};

  /** @param options whether it leaves open what the other end has ended, as a host without power does. */
  static async to(databaseUrl: string, options: { allowHalfOpen?: boolean } = {}): Promise<Wire> {
    const server = createServer(options);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Wire(databaseUrl, server);
  }

  private constructor(databaseUrl: string, server: Server) {
    const url = new URL(databaseUrl);
    const [hostname, port] = [url.hostname, Number(url.port)];
    url.port = String((server.address() as AddressInfo).port);
    this.url = String(url);
    this.#server = server.on('connection', (near) => {
      const host = this.#host;
      if (!host) return near.destroy();
      const far = connect(port, hostname);
      const on = (): boolean => this.#host === host;
      near.on('data', (part) => {
        if (on()) far.write(part);
        else this.unanswered++;
      });
      far.on('data', (part) => on() && near.write(part));
      near.on('end', () => on() && far.end());
      near.on('close', () => far.destroy());
      far.on('close', () => on() && near.destroy());
      for (const socket of [near, far]) this.#sockets.add(socket.on('error', () => {}));
    });
  }

  turn(power: 'off' | 'on'): void {
    this.#host = power === 'on' ? {} : null;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

/** Lets time pass until a request is answered. */
async function passing(clock: TestClock, request: Promise<unknown>): Promise<void> {
  let answered = false;
  void request.finally(() => {
    answered = true;
  });
  while (!answered) {
    clock.advance(20);
    await nextTurn();
  }
}
