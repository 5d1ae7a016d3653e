import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { checkStorage, copyStorage } from '../../../src/server/blobs/check.ts';
import { openStore } from '../../../src/server/blobs/open.ts';
import type { BlobStore } from '../../../src/server/blobs/store.ts';
import { systemClock } from '../../../src/server/db/clock.ts';
import { openDatabase } from '../../../src/server/db/open.ts';
import type { Database } from '../../../src/server/db/tx.ts';
import { type ServeOptions, startServer } from '../../../src/server/serve.ts';
import { readMeta } from '../../../src/server/settings/settings.store.ts';
import type { ServeError } from '../../../src/server/upkeep/serve-error.ts';
import { Api } from '../../support/api.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { bytesOf, pathOnDisk, put, tryPut } from '../../support/files.ts';
import { type Objects, startObjects } from '../../support/objects.ts';
import { newPostgresDatabase } from '../../support/postgres.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

const DAY_MS = 86_400_000;

describe('where the bytes of files are kept', () => {
  const folders: string[] = [];
  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'board-service-files-'));
    folders.push(made);
    return made;
  };
  after(() => {
    for (const made of folders) rmSync(made, { recursive: true, force: true });
  });

  const quiet = { host: '127.0.0.1', port: 0, portFixed: true, logTo: { write() {} } };
  const outcome = async (options: Partial<ServeOptions>): Promise<string> => {
    try {
      const server = await startServer({ ...quiet, dataDir: folder(), ...options });
      await server.close();
      return 'started';
    } catch (error) {
      return (error as { code?: string }).code ?? String(error);
    }
  };

  it('has to be a place there is, that goes with the database', async () => {
    for (const files of [
      'db:',
      'ftp://x',
      'disk://relative',
      's3://',
      's3://key:secret@bucket',
      's3://bucket?endpoint=x',
      's3://bucket/C#',
      's3://bucket/100%?region=x',
      's3://no bucket',
      'disk:///srv/C#/files',
      'disk:///srv/100%',
    ]) {
      expect(await outcome({ files }), files).to.equal('storage_unsupported');
    }
    const own = folder();
    expect(await outcome({ files: `disk://${own}` })).to.equal('started');
    expect(readdirSync(own).sort()).to.deep.equal(['sha256', 'tmp']);
    const link = join(folder(), 'link');
    symlinkSync(own, link);
    expect(await outcome({ files: `disk://${link}` })).to.equal('data_unsafe');
  });

  it('names what is possible when it refuses, and no flag that a copy does not have', async () => {
    const dataDir = folder();
    expect(await outcome({ dataDir })).to.equal('started');
    const from = `disk://${dataDir}/files`;
    const link = join(folder(), 'link');
    symlinkSync(folder(), link);
    for (const [to, code, possible] of [
      ['db:', 'storage_unsupported', /s3:\/\/bucket\/prefix.*db:/],
      [`disk://${link}`, 'data_unsafe', /another folder/],
    ] as const) {
      for (const refuse of [
        () => startServer({ ...quiet, dataDir, files: to }),
        () => copyStorage({ dataDir, from, to }),
      ]) {
        const error = (await refuse().catch((reason: unknown) => reason)) as ServeError;
        expect(error).to.include({ code });
        expect(error.hint).to.match(possible).and.not.include('--files');
      }
    }
  });

  it('is not left for the folder of the database by a start that does not name it', async () => {
    const dataDir = folder();
    const [big, bigger] = [`disk://${folder()}`, `disk://${folder()}`];
    const start = (files?: string) => outcome({ dataDir, files });
    expect(await start()).to.equal('started');
    expect(await start(big)).to.equal('started');
    const error = await startServer({ ...quiet, dataDir }).catch((reason: unknown) => reason as ServeError);
    expect(error).to.include({ code: 'storage_differs' });
    expect((error as ServeError).message).to.equal(`The server in ${dataDir} keeps its files in ${big}.`);
    expect((error as ServeError).hint).to.include(`--files disk://${dataDir}/files`);
    const link = join(folder(), 'link');
    symlinkSync(folder(), link);
    expect(await start(`disk://${link}`)).to.equal('data_unsafe');
    const check = (files?: string) =>
      checkStorage({ dataDir, files }).then(
        ({ url }) => url,
        ({ code }: ServeError) => code,
      );
    expect(await check()).to.equal('storage_differs');
    expect(await check(big)).to.equal(big);
    expect(await start(bigger)).to.equal('started');
    expect(await start()).to.equal('storage_differs');
    expect(await start(`disk://${dataDir}/files/`)).to.equal('started');
    expect(await start()).to.equal('started');
  });

  const neverServes = async (options: Partial<ServeOptions>): Promise<void> => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const taken = await outcome({ ...options, port, portFixed: true });
    other.close();
    expect(taken).to.equal('address_in_use');
  };

  it('is not the place that a start named which never served', async () => {
    const dataDir = folder();
    expect(await outcome({ dataDir })).to.equal('started');
    await neverServes({ dataDir, files: `disk://${folder()}` });
    expect(await outcome({ dataDir })).to.equal('started');
  });

  if ((process.env['TEST_DATABASES'] ?? 'postgres').includes('postgres')) {
    it('is one disk for one process only: none starts beside it, and it starts beside none', async () => {
      const db = await newPostgresDatabase();
      const dataDir = folder();
      const first = await startServer({ ...quiet, dataDir, db });
      const second = folder();
      for (const name of ['server-secret', 'local-key']) copyFileSync(join(dataDir, name), join(second, name));
      const refusal = async (files?: string): Promise<string> =>
        startServer({ ...quiet, dataDir: second, db, files }).then(
          (server) => server.close().then(() => 'started'),
          (error: { code: string; message: string }) => `${error.code} ${error.message}`,
        );
      expect(await refusal()).to.match(/^storage_unsupported .* uses this database, .* the disk of this one/);
      expect(await refusal('db:')).to.match(/^storage_unsupported .* keeps the files on its disk/);
      await first.close();
      const sharing = await startServer({ ...quiet, dataDir, db, files: 'db:' });
      const disk = `disk://${folder()}`;
      expect(await refusal(disk)).to.match(/^storage_unsupported .* uses this database, .* the disk of this one/);
      expect(await refusal('db:')).to.equal('started');
      await sharing.close();
      expect(await refusal(disk)).to.equal('started');
    });

    it('is not left for the folder of the data by a start or a check that does not name it, on Postgres too', async () => {
      const db = await newPostgresDatabase();
      const dataDir = folder();
      const start = (files?: string) => outcome({ dataDir, db, files });
      const check = () =>
        checkStorage({ dataDir, db }).then(
          ({ url }) => url,
          ({ code, message }: ServeError) => `${code} ${message}`,
        );
      expect(await start()).to.equal('started');
      expect(await start('db:')).to.equal('started');
      expect(await start()).to.equal('storage_differs');
      expect(await check()).to.equal(`storage_differs The server in ${dataDir} keeps its files in db:.`);
      const disk = `disk://${folder()}`;
      expect(await start(disk)).to.equal('started');
      expect(await check()).to.equal(`storage_differs The server in ${dataDir} keeps its files in ${disk}.`);
      expect(await start(`disk://${dataDir}/files/`)).to.equal('started');
      expect(await start()).to.equal('started');
      expect(await check()).to.equal(`disk://${dataDir}/files`);
      const moved = join(folder(), 'data');
      renameSync(dataDir, moved);
      expect(await outcome({ dataDir: moved, db })).to.equal('started');
    });

    it('is not the place that a start named which never served, on Postgres too', async () => {
      const db = await newPostgresDatabase();
      const dataDir = folder();
      expect(await outcome({ dataDir, db })).to.equal('started');
      await neverServes({ dataDir, db, files: 'db:' });
      expect(await outcome({ dataDir, db })).to.equal('started');
    });

    it('is named with the address at which the object store is', async () => {
      const db = await newPostgresDatabase();
      const dataDir = folder();
      const objects = await startObjects();
      Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' });
      const files = `s3://bucket/files?endpoint=${objects.endpoint}&region=eu-west-1`;
      expect(await outcome({ dataDir, db, files })).to.equal('started');
      delete process.env['AWS_ACCESS_KEY_ID'];
      delete process.env['AWS_SECRET_ACCESS_KEY'];
      await objects.close();
      const error = await startServer({ ...quiet, dataDir, db }).catch((reason: unknown) => reason as ServeError);
      expect((error as ServeError).message).to.equal(`The server in ${dataDir} keeps its files in ${files}.`);
    });

    it('is the same for two processes that move to it together', async () => {
      const db = await newPostgresDatabase();
      const dataDir = folder();
      Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' });
      expect(await outcome({ dataDir, db, files: 's3://bucket/files?endpoint=http://127.0.0.1:1' })).to.equal(
        'started',
      );
      delete process.env['AWS_ACCESS_KEY_ID'];
      delete process.env['AWS_SECRET_ACCESS_KEY'];
      const open = () => openDatabase({ url: db, clock: systemClock, migrate: false });
      const [one, other] = [await open(), await open()];
      const move = (to: Database) => openStore('db:', { dataDir: folder(), db: to, dbUrl: db });
      const { claim } = one;
      // The other one is faster just before this one would hold it alone.
      one.claim = async (name, waitMs, options) => {
        if (!options) stores.push(await move(other));
        return claim.call(one, name, waitMs, options);
      };
      const stores: BlobStore[] = [];
      stores.push(await move(one));
      expect(stores.map(({ kind }) => kind)).to.deep.equal(['db', 'db']);
      for (const each of [...stores, one, other]) await each.close();
    });

    it('is one place for two processes that start together where none is noted yet', async () => {
      const db = await newPostgresDatabase();
      Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' });
      const open = () => openDatabase({ url: db, clock: systemClock, migrate: false });
      const [one, other] = [await open(), await open()];
      const start = (to: Database, files: string) =>
        openStore(files, { dataDir: folder(), db: to, dbUrl: db }).then(
          async (store) => {
            await store.close();
            return 'started';
          },
          ({ code, message }: ServeError) => `${code} ${message}`,
        );
      const holding = new pg.Client(db);
      await holding.connect();
      await holding.query('BEGIN; LOCK TABLE meta IN EXCLUSIVE MODE');
      const starting = [start(one, 'db:'), start(other, 's3://bucket/files?endpoint=http://127.0.0.1:1')];
      const waiting = `SELECT FROM pg_locks WHERE NOT granted AND relation = 'meta'::regclass`;
      await until(async () => (await holding.query(waiting)).rowCount === 2, 'both have found none, and note theirs');
      await holding.query('COMMIT');
      const told = (await Promise.all(starting)).sort();
      expect(told[0]).to.equal('started');
      expect(told[1]).to.match(/^storage_unsupported Another server process of this database keeps the files in /);
      await holding.end();
      delete process.env['AWS_ACCESS_KEY_ID'];
      delete process.env['AWS_SECRET_ACCESS_KEY'];
      for (const each of [one, other]) await each.close();
    });

    it('is one place for all processes that share it, until all of them have stopped', async () => {
      const db = await newPostgresDatabase();
      const dataDir = folder();
      const second = folder();
      process.env['AWS_ACCESS_KEY_ID'] = 'key';
      process.env['AWS_SECRET_ACCESS_KEY'] = 'secret';
      const bucket = 's3://bucket/files?endpoint=http://127.0.0.1:1';
      const told = async (files: string): Promise<string> =>
        startServer({ ...quiet, dataDir: second, db, files }).then(
          (server) => server.close().then(() => 'started'),
          (error: { code: string; message: string }) => `${error.code} ${error.message}`,
        );
      let first = await startServer({ ...quiet, dataDir, db, files: 'db:' });
      for (const name of ['server-secret', 'local-key']) copyFileSync(join(dataDir, name), join(second, name));
      expect(await told(bucket)).to.equal(
        'storage_unsupported Another server process of this database keeps the files in db:; this one would in s3://bucket/files.',
      );
      expect(await told('db:')).to.equal('started');
      await first.close();
      expect(await told(bucket)).to.equal('started');
      first = await startServer({ ...quiet, dataDir, db, files: `${bucket}/&region=eu-west-1&path_style=true` });
      for (const same of [bucket, bucket.replace('127.0.0.1:1', 'localhost'), 's3://bucket/files'])
        expect(await told(same), same).to.equal('started');
      for (const other of ['db:', bucket.replace('/files', '/other'), bucket.replace('//bucket', '//basket')])
        expect(await told(other), other).to.match(/^storage_unsupported .* keeps the files in s3:\/\/bucket\/files;/);
      await first.close();
      expect(await told('db:')).to.equal('started');
      delete process.env['AWS_ACCESS_KEY_ID'];
      delete process.env['AWS_SECRET_ACCESS_KEY'];
    });

    it('is shared by several processes in the database, which exclude each other on the same bytes', async () => {
      const server = await startTestServer('postgres');
      const twin = await startTwin(server);
      const { name } = await newBoard(server.dana);
      const other = new Api(twin.url, server.dana.token);
      const text = 'the same bytes '.repeat(100_000);
      await Promise.all(
        Array.from({ length: 8 }, (_unused, n) => put(n % 2 ? other : server.dana, name, `same-${n}.txt`, text)),
      );
      expect((await bytesOf(other, name, 'same-0.txt')).toString()).to.equal(text);
      const keyed = await Promise.all(
        Array.from({ length: 6 }, (_unused, n) =>
          tryPut(n % 2 ? other : server.dana, name, 'keyed.txt', text, {}, { key: 'over two processes' }),
        ),
      );
      expect(keyed.map((answer) => answer.status)).to.deep.equal(Array(6).fill(201));
      expect(keyed.filter((answer) => !answer.replayed)).to.have.length(1);
      await twin.close();
      await server.stop();
    });
  }

  it('may be limited, which tells nobody what lies on a board they do not see', async () => {
    const server = await startTestServer('sqlite', { filesQuota: 100 });
    const eve = await server.person('eve');
    const hidden = await newBoard(server.dana, { visibility: 'private' });
    const own = await newBoard(eve);
    const plan = 'a'.repeat(60);
    await put(server.dana, hidden.name, 'plan.txt', plan);
    const statuses = [plan, 'b'.repeat(60)].map((text) => putInChunks(eve, own.name, text));
    expect(await Promise.all(statuses)).to.deep.equal([507, 507]);
    expect((await bytesOf(server.dana, hidden.name, 'plan.txt')).toString()).to.equal(plan);
    await server.stop();
  });

  /** How many bytes there will be is not said before they come. Answers the status. */
  async function putInChunks(from: Api, board: string, text: string): Promise<number> {
    const init = { method: 'POST', headers: from.headers({ bytes: text }), duplex: 'half' as const };
    const body = new Blob([text]).stream();
    return (await fetch(`${from.url}/v1/boards/${board}/files?name=a.txt`, { ...init, body })).status;
  }

  it('may be limited: what is refused for it takes away no bytes that only a later state of the database names', async () => {
    const server = await startTestServer('sqlite', { filesQuota: 100 });
    const { name } = await newBoard(server.dana);
    await put(server.dana, name, 'first.txt', 'a'.repeat(60));
    const later = 'b'.repeat(60);
    const path = pathOnDisk(server, `sha256:${createHash('sha256').update(later).digest('hex')}`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, later);
    expect(await putInChunks(server.dana, name, later)).to.equal(507);
    expect(existsSync(path)).to.equal(true);
    await server.stop();
  });

  it('may be limited: what is over the quota is refused, and takes nothing of it', async () => {
    const server = await startTestServer('sqlite', { filesQuota: 100 });
    const { name } = await newBoard(server.dana);
    await put(server.dana, name, 'a.txt', 'a'.repeat(60));
    const refused = await tryPut(server.dana, name, 'b.txt', 'b'.repeat(60));
    expect([refused.status, refused.code]).to.deep.equal([507, 'storage_full']);
    expect(refused.text).to.include('its quota for files is used up');
    const told = () => server.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'refused');
    const line = { level: 'warn', operation: 'uploadFile', status: 507, reason: 'the quota is used up' };
    expect(told()).to.have.length(1);
    expect(told()[0]).to.include(line).and.have.property('request').that.matches(/^req_/);
    for (let n = 0; n < 3; n++) await tryPut(server.dana, name, 'b.txt', 'b'.repeat(60));
    expect(told()).to.have.length(1);
    server.clock.advance(10_000);
    await tryPut(server.dana, name, 'b.txt', 'b'.repeat(60));
    expect(told()[1]).to.include({ ...line, others: 3 });
    await put(server.dana, name, 'c.txt', 'c'.repeat(40));
    expect(readdirSync(join(server.dataDir, 'files', 'tmp'))).to.deep.equal([]);
    await server.stop();
  });

  describe('in an object store', () => {
    let objects: Objects;
    let server: TestServer;
    let board: string;
    before(async () => {
      objects = await startObjects();
      Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' });
      server = await startTestServer('sqlite', { files: `s3://bucket/files?endpoint=${objects.endpoint}` });
      board = (await newBoard(server.dana)).name;
    });
    after(async () => {
      await server.stop();
      await objects.close();
      delete process.env['AWS_ACCESS_KEY_ID'];
      delete process.env['AWS_SECRET_ACCESS_KEY'];
    });

    it('keeps every byte, each once', async () => {
      const bytes = Buffer.from(Array.from({ length: 300_000 }, (_unused, n) => (n * 13) % 256));
      const file = await put(server.dana, board, 'a.bin', bytes);
      await put(server.dana, board, 'b.bin', bytes);
      const hex = file.latest.digest.slice('sha256:'.length);
      expect([...objects.objects.keys()]).to.deep.equal([`files/sha256/${hex.slice(0, 2)}/${hex.slice(2, 4)}/${hex}`]);
      expect(objects.requests.filter((line) => line.startsWith('PUT'))).to.have.length(1);
      expect((await bytesOf(server.dana, board, 'b.bin')).equals(bytes)).to.equal(true);
      const { storage } = await server.dana.ok('getInfo');
      expect(storage).to.deep.equal({ db: 'sqlite', files: 's3' });
    });

    it('begins to answer who resumes a download before it has read what is skipped', async () => {
      const bytes = Buffer.alloc(4_000_000, 'resumed');
      await put(server.dana, board, 'resumed.bin', bytes);
      const held = Promise.withResolvers<void>();
      objects.half = held.promise;
      const path = `${server.url}/v1/boards/${board}/files/resumed.bin/versions/latest`;
      const from = 2_500_000;
      let answer: Response | undefined;
      const rest = fetch(path, { headers: { ...server.dana.headers({}), range: `bytes=${from}-` } }).then((begun) => {
        answer = begun;
        return begun.bytes();
      });
      await until(() => answer?.status === 206, 'it answers').finally(held.resolve);
      objects.half = null;
      expect(bytes.subarray(from).equals(await rest)).to.equal(true);
    });

    it('asks again when the store is busy, and is a failure when it stays so', async () => {
      objects.busy = 2;
      await put(server.dana, board, 'busy.txt', 'busy');
      // Whoever reads texts for the search asks too.
      objects.busy = Number.POSITIVE_INFINITY;
      const away = await tryPut(server.dana, board, 'away.txt', 'away');
      expect([away.status, away.code]).to.deep.equal([503, 'unavailable']);
      const unread = await server.dana.call('downloadFile', { params: { board, file: 'busy.txt', version: 1 } });
      expect([unread.status, unread.code]).to.deep.equal([503, 'unavailable']);
      expect(server.log.filter((line) => line.includes('blob_missing'))).to.deep.equal([]);
      expect(server.log.filter((line) => line.includes('store_unusable'))).to.have.length(2);
      objects.busy = 0;
      expect((await tryPut(server.dana, board, 'away.txt', 'away')).status).to.equal(201);
    });

    it('loses what nobody names, page by page', async () => {
      const stray = `files/sha256/00/00/${'0'.repeat(64)}`;
      objects.objects.set(stray, Buffer.from('stray'));
      const before = objects.objects.size;
      await until(() => server.clock.waiting(DAY_MS / 4) > 0, 'no collection is running');
      server.clock.advance(DAY_MS + 60_000);
      await until(() => !objects.objects.has(stray), 'it is collected');
      expect(objects.objects.size).to.equal(before - 1);
    });

    it('keeps no server from stopping that says nothing while unused bytes are collected, or looked for', async () => {
      await until(() => server.clock.waiting(DAY_MS / 4) > 0, 'no collection is running');
      await put(server.dana, board, 'looked-for.txt', 'looked for');
      const asked = async (method: string, act: () => unknown) => {
        const count = () => objects.requests.filter((line) => line.startsWith(method)).length;
        const before = count();
        objects.silent = method;
        await act();
        await until(() => count() > before, `it waits for the answer to ${method}`);
      };
      server.log.length = 0;
      await asked('GET', () => server.clock.advance(DAY_MS / 4));
      await asked('HEAD', () => server.restart());
      objects.silent = '';
      await server.restart();
      expect(server.log.filter((line) => line.includes('"level":"error"'))).to.deep.equal([]);
    });

    it('keeps nobody from noting that the server is there, while a start looks for all bytes', async () => {
      const agent = await newAgent(server.dana, board);
      await agent.ok('setPresence', { body: { presence: 'working' } });
      await put(server.dana, board, 'looked-for-again.txt', 'looked for');
      const started = server.clock.now() + 50_000;
      const asked = objects.requests.length;
      objects.silent = 'HEAD';
      await server.restart(50_000);
      await until(() => objects.requests.slice(asked).some((line) => line.startsWith('HEAD')), 'bytes are looked for');
      const noted = async () => Number(await server.db.read((tx) => readMeta(tx, 'served_at'))) >= started;
      await until(noted, 'it is noted that the server is there');
      objects.silent = '';
      await server.restart();
    });

    it('goes on with the others, and tidies, where some cannot be deleted', async () => {
      await until(() => server.clock.waiting(DAY_MS / 4) > 0, 'no collection is running');
      const keys = ['0', '1', '2'].map((digit) => `files/sha256/${digit}${digit}/${digit}${digit}/${digit.repeat(64)}`);
      for (const key of keys) objects.objects.set(key, Buffer.from('unused'));
      const rows = ['0', '1', '2'].map((digit) => ({ digest: `sha256:${digit.repeat(64)}`, size: 6, touched_at: 1 }));
      await server.db.write((tx) => tx.change((db) => db('blobs').insert(rows)));
      for (const key of keys.slice(0, 2)) objects.locked.add(key);
      const aside = join(server.dataDir, 'files', 'tmp', 'left-by-one-that-ended');
      writeFileSync(aside, '');
      utimesSync(aside, 0, 0);
      server.log.length = 0;
      server.clock.advance(DAY_MS + 60_000);
      await until(() => !existsSync(aside), 'it has collected and tidied');
      expect(keys.map((key) => objects.objects.has(key))).to.deep.equal([true, true, false]);
      const told = server.log.filter((line) => line.includes('unused bytes cannot be removed'));
      expect(told.map((line) => JSON.parse(line).digest)).to.deep.equal(
        ['0', '1'].map((n) => `sha256:${n.repeat(64)}`),
      );
      objects.locked.clear();
      await until(() => server.clock.waiting(DAY_MS / 4) > 0, 'the collection is over');
      server.clock.advance(DAY_MS / 4);
      await until(() => keys.every((key) => !objects.objects.has(key)), 'the next one removes them');
    });
  });
});
