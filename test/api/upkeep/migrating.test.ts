/** Bringing a database to this build's schema while its server is stopped. */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import knex, { type Knex } from 'knex';
import pg from 'pg';
import { migrations } from '../../../migrations/index.ts';
import { newIdempotencyKey } from '../../../src/client/idempotency.ts';
import { systemClock } from '../../../src/server/db/clock.ts';
import { appliedMigrations, newestMigration } from '../../../src/server/db/migrate.ts';
import { openDatabase } from '../../../src/server/db/open.ts';
import { LISTENER } from '../../../src/server/db/postgres-connection.ts';
import type { WriteTx } from '../../../src/server/db/tx.ts';
import { useData } from '../../../src/server/upkeep/data-folder.ts';
import { migrateStorage } from '../../../src/server/upkeep/migrating.ts';
import { newBoard, post } from '../../support/cast.ts';
import { type Engine, forEachDatabase } from '../../support/databases.ts';
import { put } from '../../support/files.ts';
import { finishedWith, newPostgresDatabase } from '../../support/postgres.ts';
import { startTestServer } from '../../support/server.ts';
import { putOnBoard } from '../../support/state.ts';
import { until } from '../../support/until.ts';
import { addBob, ask, scene } from '../approvals/cast.ts';

const to = newestMigration();
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => '',
    (error: { code: string }) => error.code,
  );

forEachDatabase('storage migrate', (engine) => {
  it('is refused while the server runs, which may be looked at all the same', async () => {
    const server = await startTestServer(engine);
    const data = { dataDir: server.dataDir, db: server.databaseUrl };
    expect(await migrateStorage(data, true)).to.deep.equal({ from: to, to, applied: [] });
    expect(await codeOf(migrateStorage(data, false))).to.equal('already_running');
    await server.close();
    expect(await migrateStorage(data, false)).to.deep.equal({ from: to, to, applied: [] });
    await server.stop();
  });

  it('applies what is missing, once', async () => {
    const { data, remove } = await emptyOf(engine);
    expect(await migrateStorage(data, true)).to.deep.equal({ from: null, to, applied: [] });
    const first = await migrateStorage(data, false);
    expect([first.from, first.applied.at(-1)]).to.deep.equal([null, to]);
    expect(await migrateStorage(data, false)).to.deep.equal({ from: to, to, applied: [] });
    remove();
  });

  it('keeps the tasks of the first build, and who has them', async () => {
    const { data, remove } = await emptyOf(engine);
    const db =
      engine === 'postgres'
        ? knex({ client: 'pg', connection: data.db })
        : knex({
            client: 'better-sqlite3',
            connection: { filename: join(data.dataDir, 'service.db') },
            useNullAsDefault: true,
          });
    const [first] = migrations;
    if (!first) throw new Error('there is no first migration');
    await db.migrate.latest({
      migrationSource: {
        getMigrations: async () => [first],
        getMigrationName: ({ name }) => name,
        getMigration: async ({ up }) => ({ up, down: async () => {} }),
      },
      tableName: 'migrations',
    });
    const texts = { about_version: 0, stands_version: 0, title: 'Old', opened_by: 'mem_1', board_id: 'brd_1' };
    const task = { ...texts, opened_at: 1_000, updated_at: 5_000 };
    await db('tasks').insert([
      { ...task, id: 'tsk_1', number: 1, ref: 'OLD-1', state: 'in_progress', owner_id: 'mem_1' },
      { ...task, id: 'tsk_2', number: 2, ref: 'OLD-2', state: 'open', owner_id: null },
    ]);
    expect((await migrateStorage(data, false)).applied).to.deep.equal(migrations.slice(1).map(({ name }) => name));
    const rows = await db('tasks').orderBy('number').select('ref', 'owner_id', 'owner_seq', 'owner_at');
    expect(rows.map((row) => [row.ref, row.owner_id, Number(row.owner_seq), Number(row.owner_at)])).to.deep.equal([
      ['OLD-1', 'mem_1', 0, 5_000],
      ['OLD-2', null, 0, 0],
    ]);
    await db.destroy();
    remove();
  });

  it('finds the files that messages of an earlier build cite', async () => {
    const server = await startTestServer(engine);
    const board = (await newBoard(server.dana)).name;
    const { name } = await put(server.dana, board, 'plan.md', 'one');
    const { id } = await post(server.dana, board, 'cites', { files: [{ file: name }] });
    await server.db.write((tx) => forget(tx, '006_filters'));
    await server.close();
    server.log.length = 0;
    await server.restart();
    const told = server.log
      .map((line) => JSON.parse(line))
      .flatMap(({ msg, migrations: some }) => (some ? [[msg, some]] : []));
    const missing = migrations.map((migration) => migration.name).filter((each) => each >= '006_filters');
    expect(told).to.deep.equal([
      ['the database is being brought up to date', missing],
      ['the database is up to date', missing],
    ]);
    const { messages } = await server.dana.ok('listMessages', { params: { board }, query: { has: 'files' } });
    expect(messages.map((message) => message.id)).to.deep.equal([id]);
    await server.stop();
  });

  it('has a reply to a question owed until it was answered or withdrawn, also with an earlier build', async () => {
    const server = await startTestServer(engine);
    const pam = await server.person('pam');
    const { name } = await newBoard(server.dana);
    const member_id = await putOnBoard(server, name, pam);
    const asked = { to: ['@pam'], ask: { options: ['one', 'two'] } };
    const commented = await post(server.dana, name, 'Which?', asked);
    const { id, seq } = await post(server.dana, name, 'Which then?', asked);
    await post(server.dana, name, 'never mind', { reply_to: id, answer: { withdrawn: true } });
    const answered = await post(server.dana, name, 'And here?', asked);
    await post(pam, name, 'One.', { reply_to: answered.id, answer: { option: 1 } });
    await server.db.write(async (tx) => {
      const ended = (db: Knex) => db('message_members').where({ member_id }).whereIn('seq', [seq, answered.seq]);
      await tx.change((db) => ended(db).update({ awaits: 1 }));
      await tx.change((db) => db('message_members').where({ member_id, seq: commented.seq }).update({ awaits: 0 }));
      await forget(tx, '010_withdrawn_asks');
    });
    const owed = async () => (await pam.ok('getBoard', { params: { board: name } })).needs_reply;
    expect(await owed()).to.equal(2);
    await server.close();
    await server.restart();
    expect(await owed()).to.equal(1);
    await post(pam, name, 'One.', { reply_to: commented.id, answer: { option: 1 } });
    expect(await owed()).to.equal(0);
    await server.stop();
  });

  it('finds the request that an agent asked for with a key of an earlier build', async () => {
    const server = await startTestServer(engine);
    const s = await scene(server);
    const first = await ask(s.agent, addBob(s), 'k');
    await server.db.write((tx) => forget(tx, '007_request_keys'));
    await server.close();
    await server.restart();
    const { replayed, body } = await ask(s.agent, addBob(s), 'k');
    expect([replayed, body.approval.id]).to.deep.equal([true, first.body.approval.id]);
    await server.stop();
  });

  it('finds the kept answer of a write that an earlier build did', async () => {
    const server = await startTestServer(engine);
    const call = { key: newIdempotencyKey(), body: { name: 'once' } };
    const first = await server.dana.ok('createBoard', call);
    await server.db.write(async (tx) => {
      const hashOnly = (db: Knex) => db.raw('substr(slot, 15)');
      await tx.change((db) =>
        db('idempotency')
          .where({ key: call.key })
          .update({ slot: hashOnly(db) }),
      );
      await forget(tx, '003_key_order');
    });
    await server.restart();
    const { body, replayed } = await server.dana.call('createBoard', call);
    expect([body, replayed]).to.deep.equal([first, true]);
    await server.stop();
  });

  it('leaves the data of a newer build as it is', async () => {
    const server = await startTestServer(engine);
    const row = { name: '999_later', batch: 2, migration_time: new Date() };
    await server.db.write((tx) =>
      tx.change((db) => db('migrations').insert(engine === 'sqlite' ? { ...row, migration_time: 1 } : row)),
    );
    await server.close();
    const data = { dataDir: server.dataDir, db: server.databaseUrl };
    for (const status of [true, false]) expect(await codeOf(migrateStorage(data, status))).to.equal('data_newer');
    await server.stop();
  });

  it('is not done by a start that is told so, which refuses data of an older and of a newer build', async () => {
    const server = await startTestServer(engine);
    const data = { dataDir: server.dataDir, db: server.databaseUrl, migrate: false };
    const start = () => useData(data, server.clock, async () => {});
    const change = (build: (rows: Knex.QueryBuilder) => Knex.QueryBuilder) =>
      server.db.write((tx) => tx.change((db) => build(db('migrations'))));
    await server.db.write((tx) => forget(tx, to));
    await server.close();
    expect(await codeOf(start())).to.equal('data_older');
    await server.restart();
    const later = { name: '999_later', batch: 2, migration_time: engine === 'sqlite' ? 1 : new Date() };
    await change((rows) => rows.insert(later));
    await server.close();
    expect(await codeOf(start())).to.equal('data_newer');
    await server.stop();
  });

  // A file of SQLite is served by one process.
  if (engine === 'postgres')
    it('waits until no server of an older build runs, which would write what is not found afterwards', async () => {
      const server = await startTestServer(engine);
      await server.db.write((tx) => forget(tx, to));
      const dataDir = mkdtempSync(join(tmpdir(), 'board-migrate-'));
      copyFileSync(join(server.dataDir, 'server-secret'), join(dataDir, 'server-secret'));
      const data = { dataDir, db: server.databaseUrl };
      expect(await codeOf(migrateStorage(data, false))).to.equal('already_running');
      const { promise: told, resolve } = Promise.withResolvers<string>();
      const log = { info: () => {}, warn: ({ reason }: { reason: string }) => resolve(reason) };
      const starting = useData({ ...data, waitForDb: 60 }, server.clock, async () => {}, log);
      expect(await told).to.include('servers of an older build');
      await server.close();
      const { db, close } = await starting;
      expect((await appliedMigrations(db)).at(-1)).to.equal(to);
      await close();
      await server.stop();
      rmSync(dataDir, { recursive: true });
    });

  if (engine === 'postgres')
    it('that was done while nothing showed that a server runs ends that server', async () => {
      const server = await startTestServer(engine);
      await server.db.write((tx) =>
        tx.change((db) => db('migrations').insert({ name: '999_later', batch: 2, migration_time: new Date() })),
      );
      const listeners = `FROM pg_stat_activity WHERE application_name = '${LISTENER}' AND datname = current_database()`;
      await server.db.read((tx) => tx.query((db) => db.raw(`SELECT pg_terminate_backend(pid) ${listeners}`)));
      expect((await server.failed).code).to.equal('data_newer');
      await server.stop();
    });

  if (engine === 'postgres')
    it('is waited for by a server that starts meanwhile, which then refuses the newer data', async () => {
      const url = await newPostgresDatabase();
      const db = await openDatabase({ url, clock: systemClock, migrate: true });
      const migrating = new pg.Client(url);
      await migrating.connect();
      await migrating.query('BEGIN; SELECT pg_advisory_xact_lock(7400001)');
      await migrating.query(`INSERT INTO migrations (name, batch, migration_time) VALUES ('999_later', 2, now())`);
      const watcher = new pg.Client(url);
      await watcher.connect();
      await limitAll(watcher);
      const following = db.follow({ committed: () => {}, gap: () => {}, watched: () => [] });
      await until(() => waitsLong(watcher), 'it waits for the migration');
      await migrating.query('COMMIT');
      expect(await following.catch(({ name }: Error) => name)).to.equal('DataNewer');
      for (const client of [migrating, watcher]) await client.end();
      await db.close();
      finishedWith(url);
    });

  if (engine === 'postgres')
    it('takes its time, whatever limits the operator has set for the database', async () => {
      const url = await emptyPostgres();
      const watcher = new pg.Client(url);
      await watcher.connect();
      await watcher.query('SELECT pg_advisory_lock(7400001)');
      await limitAll(watcher);
      const opening = openDatabase({ url, clock: systemClock, migrate: true });
      opening.catch(() => {});
      await until(() => waitsLong(watcher), 'it waits for another one');
      await watcher.query('SELECT pg_advisory_unlock(7400001)');
      const db = await opening;
      expect((await appliedMigrations(db)).at(-1)).to.equal(newestMigration());
      await db.close();
      await watcher.end();
      finishedWith(url);
    });

  if (engine === 'postgres')
    it('waits for a server that signs in to the database as another user, too', async () => {
      const url = await newPostgresDatabase();
      const older = new pg.Client({ connectionString: url, application_name: LISTENER });
      await older.connect();
      const user = `user_${process.pid}`;
      await older.query(`CREATE ROLE ${user} LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO ${user}`);
      await older.query('DELETE FROM migrations WHERE name = $1', [to]);
      const other = new URL(url);
      other.username = user;
      const opened = openDatabase({ url: other.href, clock: systemClock, migrate: true });
      expect(await opened.catch(({ name }: Error) => name)).to.equal('OlderServers');
      await older.query(`DROP OWNED BY ${user}; DROP ROLE ${user}`);
      await older.end();
      finishedWith(url);
    });

  if (engine === 'postgres')
    it('waits for no server of which nothing was heard for a minute, as its machine lost its power', async () => {
      const url = await newPostgresDatabase();
      const db = await openDatabase({ url, clock: systemClock, migrate: false });
      await db.write((tx) => forget(tx, to));
      await db.close();
      const silent = new pg.Client({ connectionString: url, application_name: LISTENER });
      await silent.connect();
      await silent.query('LISTEN service_wake');
      const admin = new pg.Client(url);
      await admin.connect();
      await admin.query(
        `CREATE SCHEMA later; ALTER DATABASE ${admin.database} SET search_path = public, later, pg_catalog`,
      );
      /** Lets the database's clock show so many seconds more, for connections that are opened from now on. */
      const later = (seconds: number) =>
        admin.query(`CREATE OR REPLACE FUNCTION later.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
          AS $$SELECT pg_catalog.clock_timestamp() + interval '${seconds} seconds'$$`);
      const open = () => openDatabase({ url, clock: systemClock, migrate: true });
      await later(40);
      expect(await open().catch(({ name }: Error) => name)).to.equal('OlderServers');
      await later(61);
      const opened = await open();
      expect((await appliedMigrations(opened)).at(-1)).to.equal(to);
      await opened.close();
      await silent.end();
      await admin.end();
      finishedWith(url);
    });

  it('makes no server where there is none', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'board-migrate-'));
    expect(await codeOf(migrateStorage({ dataDir }, false))).to.equal('storage_unreachable');
    rmSync(dataDir, { recursive: true });
  });
});

/** Takes a database back to before this migration, which comes after those that make the tables of the start. */
async function forget(tx: WriteTx, name: string): Promise<void> {
  const raw = (sql: string) => tx.change((db) => db.raw(sql));
  await tx.change((db) => db('migrations').where('name', '>=', name).delete());
  await raw('CREATE INDEX message_members_awaiting ON message_members (member_id) WHERE awaits = 1');
  for (const index of ['message_members_owed', 'asks_open_to', 'asks_open_from']) await raw(`DROP INDEX ${index}`);
  if (name > '011_kept_presences') return;
  await raw('ALTER TABLE seat_reports DROP COLUMN kept_until');
  if (name > '009_waiting_reads') return;
  for (const column of ['reads', 'reads_since']) await raw(`ALTER TABLE members DROP COLUMN ${column}`);
  if (name > '008_rare_events') return;
  await raw('DROP INDEX events_by_type');
  if (name > '007_request_keys') return;
  await raw(`ALTER TABLE approvals ADD COLUMN request_key_hash ${tx.dialect.shared ? 'BYTEA' : 'BLOB'}`);
  const first = 'SELECT key_hash FROM approval_keys WHERE approval_id = approvals.id ORDER BY asked_at LIMIT 1';
  await raw(`UPDATE approvals SET request_key_hash = (${first})`);
  const unique = 'approvals__agent_id__request_key_hash ON approvals (agent_id, request_key_hash)';
  await raw(`CREATE UNIQUE INDEX ${unique} WHERE request_key_hash IS NOT NULL`);
  await raw('DROP TABLE approval_keys');
  if (name > '006_filters') return;
  const ofMessages = ['message_files_on', 'asks_in', 'message_members_mentioned', 'messages_answering'];
  for (const index of [...ofMessages, 'approvals_due', 'server_invites_used']) await raw(`DROP INDEX ${index}`);
  await raw('ALTER TABLE message_files DROP COLUMN board_id');
  if (name <= '005_thread_names') await raw('ALTER TABLE messages DROP COLUMN named_seq');
}

const LIMIT_MS = 30;

/** Limits what connections that are opened from now on may take. */
async function limitAll(client: pg.Client): Promise<void> {
  for (const what of ['statement', 'lock', 'idle_in_transaction_session'])
    await client.query(`ALTER DATABASE ${client.database} SET ${what}_timeout = ${LIMIT_MS}`);
}

/** Whether another connection has waited for a lock by name for longer than that. */
async function waitsLong(client: pg.Client): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'
     AND clock_timestamp() - query_start > interval '${3 * LIMIT_MS} ms'`,
  );
  return rowCount === 1;
}

/** The folder of a server whose database holds nothing. */
async function emptyOf(engine: Engine) {
  const dataDir = mkdtempSync(join(tmpdir(), 'board-migrate-'));
  writeFileSync(join(dataDir, 'server-secret'), 'x', { mode: 0o600 });
  const db = engine === 'postgres' ? await emptyPostgres() : `sqlite://${join(dataDir, 'service.db')}`;
  return { data: { dataDir, db }, remove: () => rmSync(dataDir, { recursive: true }) };
}

/** Databases of tests are copies of one that is ready. */
async function emptyPostgres(): Promise<string> {
  const url = await newPostgresDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  await client.end();
  return url;
}
