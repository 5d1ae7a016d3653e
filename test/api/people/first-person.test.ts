import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startServer } from '../../../src/server/serve.ts';
import { localHandle } from '../../../src/server/upkeep/first-person.ts';
import { Api } from '../../support/api.ts';
import { notesAbout } from '../../support/audit.ts';
import { newBoard } from '../../support/cast.ts';
import { startError, writePrivately } from '../../support/data-folder.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeKey, revokeKey } from '../../support/state.ts';
import { setPerson } from '../invites/cast.ts';

const mode = (path: string): number => statSync(path).mode & 0o777;

forEachDatabase('the data folder', (engine) => {
  let server: TestServer;
  let key: string;
  let pending: string;
  let secret: string;
  before(async () => {
    server = await startTestServer(engine);
    key = join(server.dataDir, 'local-key');
    pending = `${key}.pending`;
    secret = join(server.dataDir, 'server-secret');
  });
  after(() => server.stop());

  const holder = () => new Api(server.url, readFileSync(key, 'utf8').trim());
  const stop = () => server.close();
  it('is its owner’s alone: folder 0700, files 0600', async () => {
    await newBoard(server.dana);
    expect(mode(server.dataDir)).to.equal(0o700);
    const entries = readdirSync(server.dataDir, { recursive: true, withFileTypes: true });
    expect(entries.map((entry) => entry.name)).to.include.members(['local-key', 'server-secret']);
    for (const entry of entries) {
      expect(mode(join(entry.parentPath, entry.name)), entry.name).to.equal(entry.isDirectory() ? 0o700 : 0o600);
    }
    expect(readFileSync(secret)).to.have.length(32);
    expect(existsSync(pending)).to.equal(false);
  });

  it('makes its owner the first person: an admin with a key that never ends', async () => {
    const me = await holder().ok('getMe');
    expect(me).to.include({ kind: 'human', server_role: 'admin', browser: false, name: server.personHandle });
    const [row] = await server.db.read((tx) =>
      tx.query<{ expires_at: null; origin: string; name: string }>((db) => db('access_keys').select()),
    );
    expect(row).to.include({ expires_at: null, origin: 'local' });
    expect(row?.name).to.match(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(server.firstStart).to.equal(true);
  });

  it('keeps person, key and server id over a restart', async () => {
    const [me, info] = [await holder().ok('getMe'), await server.nobody.ok('getInfo')];
    const text = readFileSync(key, 'utf8');
    await server.restart();
    expect(server.firstStart).to.equal(false);
    expect(readFileSync(key, 'utf8')).to.equal(text);
    expect(await holder().ok('getMe')).to.deep.equal(me);
    expect(await server.nobody.ok('getInfo')).to.deep.equal(info);
  });

  it('gets a new key for the same person when its key is missing, and the former one ends', async () => {
    const former = holder();
    const me = await former.ok('getMe');
    await stop();
    rmSync(key);
    await server.restart();
    expect(await holder().ok('getMe')).to.deep.equal(me);
    expect(holder().token).not.to.equal(former.token);
    expect(await former.refused('getMe')).to.equal('401 unauthorized');
    const { keys } = await holder().ok('listKeys');
    const noted = await Promise.all(
      keys.map(async ({ id }) => (await notesAbout(server, id)).map((row) => row.action)),
    );
    expect(noted).to.deep.equal([['key.created', 'key.revoked'], ['key.created']]);
  });

  it('gets a new key also where another that works has its name, or a hundred work', async () => {
    const { name } = (await holder().ok('listKeys')).keys.at(-1)!;
    const held = new Api(server.url, (await holder().ok('createKey', { body: { name: 'spare' } })).token);
    await revokeKey(server, holder());
    await held.ok('createKey', { body: { name } });
    for (let n = 2; n < 100; n++) await held.ok('createKey', { body: { name: `key-${n}` } });
    await server.restart();
    const { keys } = await holder().ok('listKeys');
    const working = keys.filter(({ state }) => state === 'working');
    expect([working.length, working.at(-1)?.name]).to.deep.equal([101, `${name}-2`]);
    for (const { id, origin } of working)
      if (origin !== 'local') await holder().ok('revokeKey', { params: { key: id } });
  });

  it('gets a new key when the one it has does not work', async () => {
    for (const spoil of [
      () => revokeKey(server, holder()),
      () => changeKey(server, holder(), { expires_at: server.clock.now() - 1 }),
      async () => writePrivately(key, `abh_${'A'.repeat(43)}\n`),
      async () => writePrivately(key, ''),
    ]) {
      await spoil();
      await server.restart();
      expect((await holder().ok('getMe')).server_role).to.equal('admin');
    }
  });

  it('gets a new key for another admin where its holder stopped being one, and ends the holder’s key', async () => {
    const { id } = await holder().ok('getMe');
    const former = new Api(server.url, holder().token, id);
    const eve = await server.person('eve', 'admin');
    await setPerson(server, former, { server_role: 'member' });
    await server.restart();
    expect((await holder().ok('getMe')).name).to.equal('eve');
    expect(await former.refused('getMe')).to.equal('401 unauthorized');
    await setPerson(server, eve, { server_role: 'member' });
    await setPerson(server, former, { server_role: 'admin' });
    await server.restart();
    expect((await holder().ok('getMe')).id).to.equal(id);
  });

  it('delivers a key left pending by a start whose transaction committed', async () => {
    const token = holder().token;
    await stop();
    renameSync(key, pending);
    await server.restart();
    expect([holder().token, existsSync(pending)]).to.deep.equal([token, false]);

    // Cut off between giving the final name and removing the pending one.
    await stop();
    linkSync(key, pending);
    await server.restart();
    expect([holder().token, existsSync(pending)]).to.deep.equal([token, false]);
  });

  it('drops a pending key that no transaction made good, whole or cut off', async () => {
    const token = holder().token;
    const people = () => server.db.read((tx) => tx.query((db) => db('people').select()));
    const before = await people();
    for (const left of [`abh_${'A'.repeat(43)}\n`, 'abh_AAAA', '']) {
      await stop();
      writePrivately(pending, left);
      await server.restart();
      expect([holder().token, existsSync(pending)], left).to.deep.equal([token, false]);
    }
    expect(await people()).to.deep.equal(before);
  });

  it('does not start with a pending key that differs from a working one in its place', async () => {
    const second = await server.person('second', 'admin');
    await stop();
    writePrivately(pending, `${second.token}\n`);
    expect(await startError(server)).to.equal('ServeError key_file_differs');
    expect(existsSync(pending)).to.equal(true);
    rmSync(pending);
    await server.restart();
  });

  it('keeps a pending key that works but is no admin’s, and does not start', async () => {
    const plain = await server.person('plain');
    await stop();
    writePrivately(pending, `${plain.token}\n`);
    expect(await startError(server)).to.include('ServeError');
    expect(readFileSync(pending, 'utf8').trim()).to.equal(plain.token);
    rmSync(pending);
    await server.restart();
  });

  it('does not start on files that others could read, or that are links', async () => {
    for (const file of [key, secret]) {
      await stop();
      chmodSync(file, 0o644);
      expect(await startError(server), file).to.equal('ServeError data_unsafe');
      chmodSync(file, 0o600);
      const moved = `${file}.elsewhere`;
      renameSync(file, moved);
      symlinkSync(moved, file);
      expect(await startError(server), file).to.equal('ServeError data_unsafe');
      rmSync(file);
      renameSync(moved, file);
      await server.restart();
    }
    await stop();
    symlinkSync(key, pending);
    expect(await startError(server)).to.equal('ServeError data_unsafe');
    rmSync(pending);
    await server.restart();
  });

  it('does not start with another root key, or without the one the database was made with', async () => {
    await stop();
    const saved = `${secret}.saved`;
    copyFileSync(secret, saved);
    writePrivately(secret, 'x'.repeat(32));
    expect(await startError(server)).to.equal('ServeError root_key_mismatch');
    rmSync(secret);
    expect(await startError(server)).to.equal('ServeError root_key_mismatch');
    writePrivately(secret, 'cut off');
    expect(await startError(server)).to.include('ServeError');
    copyFileSync(saved, secret);
    rmSync(saved);
    await server.restart();
    expect((await holder().ok('getMe')).server_role).to.equal('admin');
  });

  it('starts over with a root key whose making was cut off, as long as nothing was made with it', async () => {
    await stop();
    const dataDir = mkdtempSync(join(tmpdir(), 'board-service-cut-'));
    writePrivately(join(dataDir, 'server-secret'), '');
    const fresh = await startServer({
      dataDir,
      host: '127.0.0.1',
      port: 0,
      portFixed: true,
      logTo: { write: () => {} },
    });
    await fresh.close();
    expect(readFileSync(join(dataDir, 'server-secret'))).to.have.length(32);
    rmSync(dataDir, { recursive: true });
    const saved = readFileSync(secret);
    writePrivately(secret, '');
    expect(await startError(server)).to.equal('ServeError root_key_mismatch');
    writeFileSync(secret, saved, { mode: 0o600 });
    await server.restart();
  });

  it('is used by one server at a time', async () => {
    const options = { dataDir: server.dataDir, host: '127.0.0.1', port: 0, portFixed: true, db: server.databaseUrl };
    const second = startServer({ ...options, logTo: { write: () => {} } });
    const error = await second.catch((reason: { code: string }) => reason);
    expect(error).to.include({ code: 'already_running' });
    expect((await holder().ok('getMe')).kind).to.equal('human');
  });
});

describe('the handle of the first person', () => {
  it('is the user name, made a handle', () => {
    const cases: [string, string][] = [
      ['dana', 'dana'],
      ['Dana.Smith', 'dana-smith'],
      ['--x--', 'x'],
      ['ünïcode', 'n-code'],
      ['', 'owner'],
      ['!!!', 'owner'],
      ['everyone', 'owner'],
      ['ME', 'owner'],
      ['a'.repeat(50), 'a'.repeat(40)],
      [`${'a'.repeat(39)}-b`, 'a'.repeat(39)],
    ];
    for (const [user, handle] of cases) expect(localHandle(user), user).to.equal(handle);
  });
});
