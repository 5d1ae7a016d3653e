/**
 * A server whose disk is full or cannot be written: it says so, nothing is half there, what it answered for stays, and
 * it goes on by itself once there is room again.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import { Api } from '../support/api.ts';
import { post } from '../support/cast.ts';
import { forEachDatabase } from '../support/databases.ts';
import { bytesOf, put, tryPut } from '../support/files.ts';
import { newFolder, newPlace, remove, type Where } from './databases.ts';
import { type Child, launchServer, localKey } from './launch.ts';
import { SmallDisk } from './small-disk.ts';

const MB = 1_048_576;

if (process.platform === 'linux') {
  forEachDatabase('a disk of files', (engine) => {
    let place: Where;
    let disk: SmallDisk;
    let child: Child;
    let dana: Api;
    before(async () => {
      place = await newPlace(engine);
      const folder = join(place.dataDir, 'files');
      mkdirSync(folder, { mode: 0o700 });
      disk = new SmallDisk(folder);
      child = launchServer({ ...place, db: place.db as string, before: disk.words('14m') });
      dana = new Api(await child.ready, localKey(place.dataDir));
      disk.heldBy(child.process.pid);
      await dana.ok('createBoard', { body: { name: 'small' } });
    });
    after(async () => {
      await child.stop();
      remove(place.dataDir);
    });

    const staged = () => readdirSync(disk.seen(join(place.dataDir, 'files', 'tmp')));
    const names = async () =>
      (await dana.ok('listFiles', { params: { board: 'small' } })).files.map(({ name }) => name);

    it('that is full refuses what has no room, keeps what it has, and takes it once there is room', async () => {
      const stored = new Map<string, Buffer>();
      const bytes = (n: number) => Buffer.alloc(3 * MB, `file ${n} `);
      let full = 0;
      // In a database the disk only holds what is on its way: one that is larger than it.
      const big = engine === 'postgres' ? Buffer.alloc(16 * MB, 'big') : null;
      for (; full < 10; full++) {
        const sent = big ?? bytes(full);
        const answer = await tryPut(dana, 'small', `f${full}.bin`, sent, {}, { key: `full ${full}` });
        if (answer.status === 201) stored.set(`f${full}.bin`, sent);
        else {
          expect([answer.status, answer.code]).to.deep.equal([507, 'storage_full']);
          break;
        }
      }
      expect(stored.size).to.equal(big ? 0 : 4);
      expect(staged()).to.deep.equal([]);
      expect((await names()).sort()).to.deep.equal([...stored.keys()]);
      for (const [name, whole] of stored)
        expect((await bytesOf(dana, 'small', name)).equals(whole), name).to.equal(true);
      await post(dana, 'small', 'words need no room there');
      disk.remount('size=64m');
      const again = await tryPut(dana, 'small', `f${full}.bin`, big ?? bytes(full), {}, { key: `full ${full}` });
      expect([again.status, again.replayed]).to.deep.equal([201, false]);
      expect((await bytesOf(dana, 'small', `f${full}.bin`)).equals(big ?? bytes(full))).to.equal(true);
    });

    it('that cannot be written refuses uploads, gives what it has, and takes more once it can', async () => {
      await put(dana, 'small', 'before.txt', 'before');
      const before = await names();
      disk.remount('ro');
      const refused = await tryPut(dana, 'small', 'during.txt', 'during', {}, { key: 'read-only' });
      expect([refused.status, refused.code]).to.deep.equal([503, 'unavailable']);
      expect(refused.text).to.include('service doctor').and.not.include('EROFS').and.not.include(place.dataDir);
      expect(await names()).to.deep.equal(before);
      expect(String(await bytesOf(dana, 'small', 'before.txt'))).to.equal('before');
      disk.remount('rw');
      const again = await tryPut(dana, 'small', 'during.txt', 'during', {}, { key: 'read-only' });
      expect([again.status, again.replayed]).to.deep.equal([201, false]);
      expect(staged()).to.deep.equal([]);
    });
  });

  describe('a disk of the whole data folder', () => {
    it('that is full or read-only from the beginning is named, and a start succeeds once it is not', async () => {
      const dataDir = newFolder('start');
      for (const [size, told] of [
        ['200k', /no room left for the server's data/],
        ['20m,ro', /EROFS|read-only/],
      ] as const) {
        const child = launchServer({ dataDir, before: new SmallDisk(dataDir).words(size) });
        expect(
          await child.ready.then(
            () => 'started',
            () => 'ended',
          ),
        ).to.equal('ended');
        expect(child.errors).to.match(told);
      }
      const child = launchServer({ dataDir, before: new SmallDisk(dataDir).words('20m') });
      await child.ready;
      expect(await child.stop()).to.equal(0);
      remove(dataDir);
    });

    it('that is full in the middle of a migration is named', async () => {
      const [from, dataDir] = [newFolder('before'), newFolder('migrating')];
      const first = launchServer({ dataDir: from });
      await first.ready;
      await first.stop();
      const db = new Sqlite(join(from, 'service.db'));
      // The index that it makes is larger than what SQLite keeps in memory.
      db.exec(`DROP INDEX events_by_type; DELETE FROM migrations WHERE name = '008_rare_events';
        WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 16000)
        INSERT INTO events (board_id, seq, id, type, at, actor, data, data_hash, prev_hash, hash)
        SELECT 'none', x, x, printf('%0500d', x), 0, '{}', '{}', x'', x'', x'' FROM n`);
      const pages = db.pragma('page_count', { simple: true }) as number;
      db.close();
      const disk = new SmallDisk(dataDir).words(`${pages * 4 + 1024}k`);
      const copy = ['sh', '-c', 'cp -a "$1/." "$2" && shift 2 && exec "$@"', 'sh', from, dataDir];
      const child = launchServer({ dataDir, before: [...disk, ...copy] });
      expect(await child.exited).to.equal(1);
      expect(child.errors).to.match(/no room left for the server's data/);
      for (const folder of [from, dataDir]) remove(folder);
    });

    it('that is full keeps no process of a team from starting that has its data elsewhere', async () => {
      const { dataDir: from, db } = await newPlace('postgres');
      const team = { publicUrl: 'https://team.example.com', adminHandle: 'ana' };
      const first = launchServer({ dataDir: from, db, team });
      await first.ready;
      await first.stop();
      const dataDir = newFolder('restarted');
      const filled = 'cp -a "$1/." "$2" && ! cat /dev/zero 2>&- >"$2/filled" && shift 2 && exec "$@"';
      const before = [...new SmallDisk(dataDir).words('1m'), 'sh', '-c', filled, 'sh', from, dataDir];
      const child = launchServer({ dataDir, db, team, before });
      expect(await child.ready).to.equal(team.publicUrl);
      expect(await child.stop()).to.equal(0);
      for (const folder of [from, dataDir]) remove(folder);
    });

    it('that is full loses nothing that was answered for, and goes on once there is room', async () => {
      const dataDir = newFolder('full');
      const disk = new SmallDisk(dataDir);
      const child = launchServer({ dataDir, before: disk.words('6m') });
      const url = await child.ready;
      disk.heldBy(child.process.pid);
      const dana = new Api(url, localKey(disk.seen(dataDir)));
      const board = 'small';
      await dana.ok('createBoard', { body: { name: board } });
      const text = 'lorem ipsum '.repeat(2_500);
      const posted: string[] = [];
      const say = (n: number) =>
        dana.call('postMessage', { params: { board }, body: { body: `${n} ${text}` }, key: `say ${n}` });
      const texts = async () => {
        const found: string[] = [];
        for (let after = 0; ; ) {
          const page = await dana.ok('listMessages', { params: { board }, query: { after, limit: 20 } });
          found.push(...page.messages.map(({ body }) => body.split(' ', 1)[0] as string));
          if (page.next_after === null) return found;
          after = page.next_after;
        }
      };
      let n = 0;
      for (; n < 400; n++) {
        const answer = await say(n);
        if (answer.status === 201) posted.push(String(n));
        else {
          expect([answer.status, answer.code]).to.deep.equal([507, 'storage_full']);
          break;
        }
      }
      expect(posted.length).to.be.within(5, 399);
      expect(await texts()).to.deep.equal(posted);
      disk.remount('size=64m');
      const again = await say(n);
      expect([again.status, again.replayed]).to.deep.equal([201, false]);
      posted.push(String(n));
      expect(await texts()).to.deep.equal(posted);
      expect(await child.stop()).to.equal(0);
      remove(dataDir);
    });
  });
}
