/**
 * A disk that takes half a second for every flush, one that suddenly cannot be written, and one of Postgres that is full:
 * writes that wait share their flushes, reads go on, nothing acknowledged is lost, and what cannot be kept is not
 * acknowledged.
 *
 * Needs Linux and a C compiler.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { Api } from '../support/api.ts';
import { until } from '../support/until.ts';
import { type Cluster, newFolder, remove, startCluster } from './databases.ts';
import { describeWithDisk } from './disk-library.ts';
import { type Child, launchServer, localKey } from './launch.ts';
import { expectAllKept, expectSameAgain, type Place, Reading } from './record.ts';
import { Fleet, Target } from './writers.ts';

const SYNC_MS = 500;
const WRITERS = 24;

describeWithDisk('a disk', (library) => {
  const folders: string[] = [];
  const newData = (): string => {
    const folder = newFolder('data');
    folders.push(folder);
    return folder;
  };
  after(() => folders.forEach(remove));

  async function placeOn(child: Child, dataDir: string): Promise<Place> {
    const url = await child.ready;
    const token = localKey(dataDir);
    return { url, token, board: await new Api(url, token).ok('createBoard', { body: { name: 'slow' } }) };
  }

  /** Writers that post together until so many posts are acknowledged; answers them and how long it took. */
  async function posted(place: Place, count: number, writers = WRITERS): Promise<{ fleet: Fleet; ms: number }> {
    const target = new Target();
    target.up(place.url);
    const began = performance.now();
    const mayRepeat = ({ status }: { status: number }) => status === 503;
    const fleet = new Fleet({ target, token: place.token, board: place.board.name, writers, mayRepeat });
    await Promise.race([new Promise<void>((resolve) => fleet.after('acknowledged', count, resolve)), fleet.failure]);
    await fleet.finish();
    return { fleet, ms: performance.now() - began };
  }

  async function expectKept(place: Place, fleet: Fleet): Promise<void> {
    const reading = new Reading(place.board.id);
    await reading.catchUp(place);
    expectAllKept(fleet, reading);
    await expectSameAgain(place, fleet.acknowledged.slice(-5));
  }

  it(`that needs ${SYNC_MS} ms for a flush: posts that wait share one (sqlite)`, async () => {
    const dataDir = newData();
    const quick = launchServer({ dataDir });
    const place = await placeOn(quick, dataDir);
    await quick.kill();
    const env = { LD_PRELOAD: library, DISK_FOLDER: dataDir, DISK_SYNC_MS: String(SYNC_MS) };
    const child = launchServer({ dataDir, env });
    place.url = await child.ready;
    const { fleet, ms } = await posted(place, WRITERS * 2);
    const flushes = ms / SYNC_MS;
    console.log(`        ${fleet.acknowledged.length} posts in ${Math.round(ms)} ms`);
    expect(flushes, 'flushes it can have been').to.be.below(fleet.acknowledged.length / 3);
    await child.kill();
    const again = launchServer({ dataDir });
    place.url = await again.ready;
    await expectKept(place, fleet);
    expect(await again.stop()).to.equal(0);
  });

  it(`that needs ${SYNC_MS} ms for a flush: posts come through one after the other (postgres)`, async () => {
    chmodSync(dirname(library), 0o755);
    let cluster: Cluster | undefined;
    try {
      cluster = await startCluster({ LD_PRELOAD: library, DISK_SYNC_MS: String(SYNC_MS) }, 'pg_wal');
      const dataDir = newData();
      const child = launchServer({ dataDir, db: cluster.db });
      const place = await placeOn(child, dataDir);
      const { fleet, ms } = await posted(place, 6, 4);
      console.log(`        ${fleet.acknowledged.length} posts in ${Math.round(ms)} ms, ${fleet.repeated} sent again`);
      expect(ms, 'ms, which shows that flushes are slow').to.be.above(SYNC_MS);
      await expectKept(place, fleet);
      expect(await child.stop()).to.equal(0);
    } finally {
      await cluster?.stop();
    }
  });

  it('that cannot be written: posts are refused, reads go on, and so do posts once it can', async () => {
    const dataDir = newData();
    const flag = join(newData(), 'read-only');
    const child = launchServer({ dataDir, env: { LD_PRELOAD: library, DISK_FOLDER: dataDir, DISK_READ_ONLY: flag } });
    const place = await placeOn(child, dataDir);
    const dana = new Api(place.url, place.token);
    const params = { board: 'slow' };
    await dana.ok('postMessage', { params, body: { body: 'before' } });
    writeFileSync(flag, '');
    const call = { params, body: { body: 'meanwhile' }, key: 'meanwhile' };
    const refused = await dana.call('postMessage', call);
    expect([refused.status, refused.code]).to.deep.equal([503, 'unavailable']);
    const texts = async () => (await dana.ok('listMessages', { params })).messages.map(({ body }) => body);
    expect(await texts()).to.deep.equal(['before']);
    rmSync(flag);
    await until(async () => (await dana.call('postMessage', call)).status === 201, 'it takes posts again');
    expect(await texts()).to.deep.equal(['before', 'meanwhile']);
    expect(await child.stop()).to.equal(0);
  });

  it('of Postgres that is full: posts are refused, reads go on, and so do posts once there is room', async () => {
    chmodSync(dirname(library), 0o755);
    const noted = newData();
    chmodSync(noted, 0o755);
    const flag = join(noted, 'full');
    let cluster: Cluster | undefined;
    try {
      cluster = await startCluster({ LD_PRELOAD: library, DISK_FULL: flag }, 'base');
      const dataDir = newData();
      const child = launchServer({ dataDir, db: cluster.db });
      const { url, token } = await placeOn(child, dataDir);
      const dana = new Api(url, token);
      const params = { board: 'slow' };
      const text = randomBytes(3_000).toString('hex');
      const say = (n: number) => dana.call('postMessage', { params, body: { body: `${n} ${text}` }, key: `say ${n}` });
      const texts = async () =>
        (await dana.ok('listMessages', { params, query: { limit: 200 } })).messages.map(
          ({ body }) => body.split(' ')[0],
        );
      await say(0);
      writeFileSync(flag, '');
      const posted = ['0'];
      let n = 1;
      // What its files have room for is still taken.
      for (; n < 100; n++) {
        const { status, code } = await say(n);
        if (status === 201) posted.push(String(n));
        else {
          expect([status, code]).to.deep.equal([507, 'storage_full']);
          break;
        }
      }
      expect(posted.length).to.be.below(100);
      expect(await texts()).to.deep.equal(posted);
      rmSync(flag);
      const again = await say(n);
      expect([again.status, again.replayed]).to.deep.equal([201, false]);
      expect(await texts()).to.deep.equal([...posted, String(n)]);
      expect(await child.stop()).to.equal(0);
    } finally {
      await cluster?.stop();
    }
  });
});
