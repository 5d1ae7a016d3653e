import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import pg from 'pg';
import { checkStorage, copyStorage } from '../../../src/server/blobs/check.ts';
import { systemClock } from '../../../src/server/db/clock.ts';
import { newestMigration } from '../../../src/server/db/migrate.ts';
import { openDatabase } from '../../../src/server/db/open.ts';
import { startServer } from '../../../src/server/serve.ts';
import { lockFolder, ofDatabase } from '../../../src/server/upkeep/data-folder.ts';
import { schemaOf } from '../../../src/server/upkeep/examine.ts';
import { migrateStorage } from '../../../src/server/upkeep/migrating.ts';
import { loadRootKey } from '../../../src/server/upkeep/root-secret.ts';
import type { ServeError } from '../../../src/server/upkeep/serve-error.ts';
import { rememberStorage } from '../../../src/server/upkeep/storage.ts';
import { Api } from '../../support/api.ts';
import { newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { put } from '../../support/files.ts';
import { startObjects } from '../../support/objects.ts';
import { newPostgresDatabase } from '../../support/postgres.ts';
import { migrated } from '../../support/server.ts';

const quiet = { host: '127.0.0.1', port: 0, portFixed: true, logTo: { write() {} } };

const pathOf = (dataDir: string, digest: string): string => {
  const hex = digest.slice('sha256:'.length);
  return join(dataDir, 'files', 'sha256', hex.slice(0, 2), hex.slice(2, 4), hex);
};

/** The code with which a start is refused. */
const refusal = (options: Parameters<typeof startServer>[0]): Promise<string> =>
  startServer(options).then(
    async (server) => {
      await server.close();
      return 'started';
    },
    (error: { code?: string; message: string }) => `${error.code} ${error.message}`,
  );

describe('the database of a data folder', () => {
  const folders: string[] = [];
  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'board-service-storage-'));
    folders.push(made);
    return made;
  };
  after(() => {
    for (const made of folders) rmSync(made, { recursive: true, force: true });
  });

  if ((process.env['TEST_DATABASES'] ?? 'postgres').includes('postgres')) {
    it('is not replaced by an empty one when a later start does not name it', async () => {
      const dataDir = folder();
      const db = (await newPostgresDatabase()).replace(/:[^:@]*@/, ':one@two:three@');
      await startServer({ ...quiet, dataDir, db }).then((server) => server.close());
      const refused = await refusal({ ...quiet, dataDir });
      expect(refused).to.match(/^storage_differs .*postgres:\/\/postgres@127\.0\.0\.1/);
      expect(readFileSync(join(dataDir, 'storage'), 'utf8')).to.match(/^postgres:\/\/postgres@127\.0\.0\.1/);
      expect(await refusal({ ...quiet, dataDir, db })).to.equal('started');
    });

    it('is not waited for where it knows no such user, or is not there', async () => {
      const db = await newPostgresDatabase();
      const wrong = [db.replace('//postgres:', '//nobody:'), `${db}0`];
      for (const url of [...wrong, ...wrong.map((each) => each.replace('@127', '@127.0.0.1:1,127'))]) {
        const begun = Date.now();
        const start = refusal({ ...quiet, dataDir: folder(), db: url, files: 'db:', waitForDb: 60 });
        expect(await start, url).to.match(/^storage_unreachable /);
        expect(Date.now() - begun, url).to.be.below(10_000);
      }
    });
  }

  forEachDatabase('that a folder was used with', (engine) => {
    const databaseOf = async () => (engine === 'postgres' ? await newPostgresDatabase() : undefined);
    const lose = async (dataDir: string, db: string | undefined): Promise<void> => {
      if (db === undefined) return rmSync(join(dataDir, 'service.db'));
      const client = new pg.Client(db);
      await client.connect();
      await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
      await client.end();
    };

    it('is not replaced by an empty one where it is gone, which leaves the folder as it is', async () => {
      const dataDir = folder();
      const db = await databaseOf();
      await startServer({ ...quiet, dataDir, db }).then((server) => server.close());
      await lose(dataDir, db);
      const kept = readdirSync(dataDir);
      for (const begin of [
        () => startServer({ ...quiet, dataDir, db }),
        () => migrateStorage({ dataDir, db }, false),
      ]) {
        const error = (await begin().catch((reason: unknown) => reason)) as ServeError;
        expect(error).to.include({ code: 'storage_unreachable' });
        expect(error.message).to.match(/^There is no server in (sqlite|postgres):/);
        expect(error.hint).to.include('backup').and.include(`move ${dataDir} away`);
      }
      expect(readdirSync(dataDir)).to.deep.equal(kept);
      expect(await refusal({ ...quiet, dataDir: folder(), db })).to.equal('started');
    });

    it('is not left for one without a server, which is named together with it; nothing is made there', async () => {
      const dataDir = folder();
      const db = await databaseOf();
      await startServer({ ...quiet, dataDir, db }).then((server) => server.close());
      rmSync(join(dataDir, 'local-key'));
      const kept = readFileSync(join(dataDir, 'storage'), 'utf8');
      const [sqlite, postgres] = [`sqlite://${folder()}/other.db`, await databaseOf()];
      if (postgres !== undefined) await lose(dataDir, postgres);
      for (const other of [sqlite, ...(postgres === undefined ? [] : [postgres])]) {
        for (const begin of [
          () => startServer({ ...quiet, dataDir, db: other }),
          () => migrateStorage({ dataDir, db: other }, false),
        ]) {
          const error = (await begin().catch((reason: unknown) => reason)) as ServeError;
          expect(error).to.include({ code: 'storage_differs' });
          const [its = '', none = ''] = [db ?? `sqlite://${dataDir}/service.db`, other].map((url) =>
            url.replace(':test@', '@'),
          );
          expect(error.message).to.equal(
            `The server in ${dataDir} keeps its boards in ${its}, and there is no server in ${none}.`,
          );
          expect(error.hint).to.include('--data');
          // What is in SQLite cannot be put into Postgres, nor the other way round.
          const alike = its.startsWith('sqlite:') === none.startsWith('sqlite:');
          expect(error.hint.includes('backup'), none).to.equal(alike);
          expect(readFileSync(join(dataDir, 'storage'), 'utf8')).to.equal(kept);
        }
      }
      expect(existsSync(sqlite.slice('sqlite://'.length))).to.equal(false);
      expect(await refusal({ ...quiet, dataDir, db })).to.equal('started');
    });

    it('is not replaced by an empty one beside files that a backup put back', async () => {
      const dataDir = folder();
      const db = await databaseOf();
      await startServer({ ...quiet, dataDir, db }).then((server) => server.close());
      await lose(dataDir, db);
      for (const name of readdirSync(dataDir))
        if (!['files', 'server-secret'].includes(name)) rmSync(join(dataDir, name));
      expect(await refusal({ ...quiet, dataDir, db })).to.match(/^storage_unreachable There is no server in /);
    });

    it('is still the one that it was used with after a start on that of another server, which is not migrated', async () => {
      const [dataDir, another] = [folder(), folder()];
      const dbs = [await databaseOf(), await databaseOf()];
      await startServer({ ...quiet, dataDir, db: dbs[0] }).then((server) => server.close());
      await startServer({ ...quiet, dataDir: another, db: dbs[1] }).then((server) => server.close());
      const its = dbs[1] ?? `sqlite://${another}/service.db`;
      const kept = readFileSync(join(dataDir, 'storage'), 'utf8');
      const older = await openDatabase({ url: its, clock: systemClock, migrate: false });
      await older.write((tx) => tx.change((knex) => knex('migrations').where('name', newestMigration()).delete()));
      await older.close();
      expect(await refusal({ ...quiet, dataDir, db: its })).to.match(/^root_key_mismatch .* does not belong to /);
      expect(readFileSync(join(dataDir, 'storage'), 'utf8')).to.equal(kept);
      expect((await schemaOf({ dataDir: another, db: its })).missing).to.deep.equal([newestMigration()]);
    });

    it('is used by the next start where the first was cut off as soon as it had noted which one it is', async () => {
      const dataDir = folder();
      const db = await databaseOf();
      if (engine === 'sqlite') writeFileSync(join(dataDir, 'service.db'), await migrated(), { mode: 0o600 });
      rememberStorage(dataDir, db ?? `sqlite://${dataDir}/service.db`);
      loadRootKey(dataDir);
      expect(await refusal({ ...quiet, dataDir, db })).to.equal('started');
    });
  });

  it('lies in it, as the files do, whatever the folder is called', async () => {
    for (const name of ['C#, what?', '100% a%41b']) {
      const top = folder();
      const dataDir = join(top, name);
      await startServer({ ...quiet, dataDir }).then((server) => server.close());
      expect(readdirSync(top)).to.deep.equal([name]);
      expect(readdirSync(dataDir)).to.include.members(['service.db', 'files']);
      const { url } = await checkStorage({ dataDir });
      expect(await checkStorage({ dataDir, files: url })).to.include({ files: 'disk', complete: true });
      expect(await refusal({ ...quiet, dataDir })).to.equal('started');
    }
  });

  it('must be named in a form that says where it is', async () => {
    for (const db of [
      'sqlite://relative.db',
      'sqlite:///srv/C#/x',
      'sqlite:///100%',
      'postgres://',
      'mysql://127.0.0.1/x',
      'service.db',
    ]) {
      expect(await refusal({ ...quiet, dataDir: folder(), db }), db).to.match(/^storage_unsupported /);
    }
  });

  it('is refused for a password that is not percent-encoded, with how that is done', async () => {
    for (const password of ['a#b', 'a/b', 'a?b']) {
      const db = `postgres://ana:${password}@127.0.0.1/x`;
      const error = await startServer({ ...quiet, dataDir: folder(), db }).catch((reason: unknown) => reason);
      expect(error, password).to.include({ code: 'storage_unsupported' });
      expect((error as ServeError).hint, password).to.match(
        /In a user, password or parameter # is written %23.*; the name of the database has no @/,
      );
    }
  });

  it('that is not there is named as such', async () => {
    expect(await refusal({ ...quiet, dataDir: folder(), db: 'postgres://127.0.0.1:1/x' })).to.match(
      /^storage_unreachable /,
    );
  });

  it('that is only looked into is not made', async () => {
    const dataDir = folder();
    for (const look of [() => checkStorage({ dataDir }), () => schemaOf({ dataDir })]) {
      const error = await look().catch((reason: unknown) => reason);
      expect(error).to.include({ code: 'storage_unreachable' });
    }
    expect(readdirSync(dataDir)).to.deep.equal([]);
  });

  it('that is only looked into is not written, where it is a copy in its own journal mode or another program writes', async () => {
    const [from, dataDir] = [folder(), folder()];
    await startServer({ ...quiet, dataDir: from }).then((server) => server.close());
    const file = join(dataDir, 'service.db');
    const whole = new Sqlite(join(from, 'service.db'));
    whole.prepare('VACUUM INTO ?').run(file);
    whole.close();
    copyFileSync(join(from, 'server-secret'), join(dataDir, 'server-secret'));
    const bytes = readFileSync(file);
    const writer = new Sqlite(file);
    writer.exec('BEGIN IMMEDIATE');
    expect(await checkStorage({ dataDir })).to.include({ checked: 0, complete: true });
    expect((await schemaOf({ dataDir })).missing).to.deep.equal([]);
    expect((await migrateStorage({ dataDir }, true)).applied).to.deep.equal([]);
    writer.close();
    expect(readFileSync(file).equals(bytes)).to.equal(true);
    expect(readdirSync(dataDir).sort()).to.deep.equal(['server-secret', 'service.db']);
    mkdirSync(join(dataDir, 'files', 'sha256'), { recursive: true, mode: 0o700 });
    await checkStorage({ dataDir });
    expect(readdirSync(join(dataDir, 'files'))).to.deep.equal(['sha256']);
  });

  it('that cannot be looked into as no file can be made beside it says which copy can', async () => {
    const [from, to] = [folder(), folder()];
    await startServer({ ...quiet, dataDir: from }).then((server) => server.close());
    // The name leaves no room for what SQLite adds to it.
    const [plain, whole] = ['p', 'w'].map((name) => join(to, name.repeat(253))) as [string, string];
    copyFileSync(join(from, 'service.db'), plain);
    const look = (file: string) => checkStorage({ dataDir: from, db: `sqlite://${file}` });
    const error = await look(plain).catch((reason: unknown) => reason);
    expect(error).to.include({ code: 'storage_unreachable' });
    expect((error as ServeError).hint).to.include('VACUUM INTO');
    const db = new Sqlite(join(from, 'service.db'));
    db.prepare('VACUUM INTO ?').run(join(to, 'whole'));
    db.close();
    renameSync(join(to, 'whole'), whole);
    expect(await look(whole)).to.include({ complete: true });
  });

  it('that is damaged, or was never a server’s, is named as such', async () => {
    const dataDir = folder();
    const file = join(dataDir, 'service.db');
    await startServer({ ...quiet, dataDir }).then((server) => server.close());
    const whole = readFileSync(file);
    const looks = [() => checkStorage({ dataDir }), () => schemaOf({ dataDir })];
    const told = async (look: () => Promise<unknown>): Promise<string> =>
      await look().then(
        () => 'fine',
        ({ code, message }: { code: string; message: string }) => `${code} ${message}`,
      );
    writeFileSync(file, whole.fill(0xff, 0, 100));
    const starts = () => startServer({ ...quiet, dataDir });
    for (const look of [...looks, starts, () => migrateStorage({ dataDir }, true)])
      expect(await told(look)).to.equal('storage_unreachable The database is damaged: file is not a database.');
    writeFileSync(file, '');
    for (const look of looks)
      expect(await told(look)).to.match(
        /^storage_unreachable The database holds no server of this build: no such table: /,
      );
  });

  it('that another program has is no error of the server', () => {
    const file = join(folder(), 'service.db');
    const [holder, late] = [new Sqlite(file), new Sqlite(file, { timeout: 0 })];
    holder.exec('BEGIN IMMEDIATE');
    try {
      late.exec('BEGIN IMMEDIATE');
      expect.fail('both have it');
    } catch (error) {
      expect(ofDatabase(error, '/srv/service')).to.include({
        code: 'storage_unreachable',
        message: 'Another program has the database: database is locked.',
      });
    }
    holder.close();
    late.close();
  });

  /** Puts three files on a board of this folder's server. @returns the digest of the one that is looked at first */
  const leastOfThreeFiles = async (dataDir: string): Promise<string> => {
    const server = await startServer({ ...quiet, dataDir });
    const dana = new Api(server.url, readFileSync(join(dataDir, 'local-key'), 'utf8').trim());
    const { name } = await newBoard(dana);
    const digests: string[] = [];
    for (const text of ['one', 'two', 'three']) digests.push((await put(dana, name, text, text)).latest.digest);
    await server.close();
    return digests.sort()[0]!;
  };

  it('is checked, and its files copied, to the end where a disk does not give some of them', async () => {
    const dataDir = folder();
    const unread = await leastOfThreeFiles(dataDir);
    const path = pathOf(dataDir, unread);
    // A folder cannot be read either.
    rmSync(path);
    mkdirSync(path);
    const { checked, bad } = await checkStorage({ dataDir });
    expect([checked, bad.map(({ digest, state }) => [digest, state])]).to.deep.equal([3, [[unread, 'corrupt']]]);
    const [from, to] = [`disk://${join(dataDir, 'files')}`, `disk://${join(folder(), 'copy')}`];
    expect(await copyStorage({ dataDir, from, to })).to.deep.equal({ copied: 2, skipped: 0, failed: [unread] });
  });

  it('has no files copied from, or checked in, a folder that is not there, which is not made either', async () => {
    const [dataDir, wrong] = [folder(), folder()];
    await leastOfThreeFiles(dataDir);
    for (const path of [join(wrong, 'files'), wrong]) {
      const files = `disk://${path}`;
      for (const look of [
        () => checkStorage({ dataDir, files }),
        () => copyStorage({ dataDir, from: files, to: `disk://${join(wrong, 'copy')}` }),
      ]) {
        const error = await look().catch((reason: unknown) => reason);
        expect(error).to.include({
          code: 'storage_unreachable',
          message: `There are no files of a server in ${path}.`,
        });
      }
      expect(readdirSync(wrong)).to.deep.equal([]);
    }
  });

  it('has the versions named whose bytes are lost with its own folder of files', async () => {
    const dataDir = folder();
    await leastOfThreeFiles(dataDir);
    rmSync(join(dataDir, 'files'), { recursive: true });
    expect((await checkStorage({ dataDir })).bad.map(({ state }) => state)).to.deep.equal(Array(3).fill('missing'));
  });

  it('has those of its files told that are neither copied nor there', async () => {
    const dataDir = folder();
    const gone = await leastOfThreeFiles(dataDir);
    const [from, to] = [`disk://${join(dataDir, 'files')}`, `disk://${join(folder(), 'copy')}`];
    const path = pathOf(dataDir, gone);
    renameSync(path, `${path}-away`);
    expect(await copyStorage({ dataDir, from, to })).to.deep.equal({ copied: 2, skipped: 0, failed: [gone] });
    renameSync(`${path}-away`, path);
    expect(await copyStorage({ dataDir, from, to })).to.deep.equal({ copied: 1, skipped: 2, failed: [] });
    rmSync(path);
    expect(await copyStorage({ dataDir, from, to })).to.deep.equal({ copied: 0, skipped: 2, failed: [] });
  });

  it('has its files copied to the end where bytes go meanwhile, and told are those that a version names', async () => {
    const dataDir = folder();
    const target = await startObjects();
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' });
    const gone = await leastOfThreeFiles(dataDir);
    const unnamed = pathOf(dataDir, `sha256:${createHash('sha256').update('four').digest('hex')}`);
    mkdirSync(dirname(unnamed), { recursive: true });
    writeFileSync(unnamed, 'four');
    // The target is asked first whether it has the bytes.
    const find = target.objects.get.bind(target.objects);
    target.objects.get = (key) => {
      for (const path of [pathOf(dataDir, gone), unnamed])
        if (key.endsWith(basename(path))) rmSync(path, { force: true });
      return find(key);
    };
    const [from, to] = [`disk://${join(dataDir, 'files')}`, `s3://bucket/files?endpoint=${target.endpoint}`];
    const copied = await copyStorage({ dataDir, from, to }).finally(() => target.close());
    expect(copied).to.deep.equal({ copied: 2, skipped: 0, failed: [gone] });
    delete process.env['AWS_ACCESS_KEY_ID'];
    delete process.env['AWS_SECRET_ACCESS_KEY'];
  });

  it('has it told why its files cannot be read or written, and that they can be copied again', async () => {
    const dataDir = folder();
    await leastOfThreeFiles(dataDir);
    const objects = await startObjects();
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'another', AWS_SECRET_ACCESS_KEY: 'secret' });
    const [disk, s3] = [`disk://${join(dataDir, 'files')}`, `s3://bucket/files?endpoint=${objects.endpoint}`];
    const looks = [
      () => checkStorage({ dataDir, files: s3 }),
      () => copyStorage({ dataDir, from: s3, to: disk }),
      () => copyStorage({ dataDir, from: disk, to: s3 }),
    ];
    const told: unknown[] = [];
    for (const look of looks) told.push(await look().catch((reason: unknown) => reason));
    await objects.close();
    delete process.env['AWS_ACCESS_KEY_ID'];
    delete process.env['AWS_SECRET_ACCESS_KEY'];
    for (const [n, what] of ['GET', 'LIST', 'GET'].entries())
      expect(told[n]).to.include({
        code: 'storage_unreachable',
        message: `The files cannot be used: the object store answered 403 to ${what}.`,
        hint: 'Check the address, its keys and their rights, then run it again.',
      });
  });

  it('keeps its secret: a start without the file makes no other', async () => {
    const dataDir = folder();
    await startServer({ ...quiet, dataDir }).then((server) => server.close());
    rmSync(join(dataDir, 'server-secret'));
    expect(await refusal({ ...quiet, dataDir })).to.match(/^root_key_mismatch .* is missing/);
    expect(await refusal({ ...quiet, dataDir })).to.match(/^root_key_mismatch .* is missing/);
    const file = join(dataDir, 'server-secret');
    writeFileSync(file, Buffer.alloc(32, 1), { mode: 0o600 });
    const error = await startServer({ ...quiet, dataDir }).catch((reason: unknown) => reason);
    expect(error).to.include({ code: 'root_key_mismatch', message: `${file} does not belong to this database.` });
    expect((error as { hint: string }).hint).to.include(` ${file}.`);
  });
});

describe('the lock of a data folder', () => {
  it('is had beside a start that asks for it at the same moment, and by one of them only', () => {
    const folder = mkdtempSync(join(tmpdir(), 'board-lock-'));
    lockFolder(folder)();
    // What asks for it reads first.
    const other = new Sqlite(join(folder, 'server.lock'));
    other.exec('BEGIN; SELECT * FROM sqlite_master');
    const free = lockFolder(folder);
    expect(() => lockFolder(folder)).to.throw('Another server uses');
    free();
    lockFolder(folder)();
    other.close();
    rmSync(folder, { recursive: true });
  });
});

describe('the address of a server', () => {
  it('that this machine does not have is named as such', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'board-service-address-'));
    for (const host of ['192.0.2.1', 'nowhere.invalid'])
      expect(await refusal({ ...quiet, host, dataDir })).to.match(new RegExp(`^address_unusable .* ${host}:0`));
    rmSync(dataDir, { recursive: true });
  });
});
