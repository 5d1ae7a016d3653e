/**
 * Processes that stop for a while and go on, as on a machine that sleeps: one of two servers in the middle of its writes, a
 * client in the middle of its stream, and a client that never reads at all. Nobody else waits for them, and nothing is lost.
 *
 * The short form stops them for a second or two and posts a few hundred messages; SERVICE_TEST_LONG=1 stops them for 30
 * seconds and posts 10,000.
 */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Api } from '../support/api.ts';
import { forEachDatabase } from '../support/databases.ts';
import { open } from '../support/raw.ts';
import { until } from '../support/until.ts';
import { Crew } from './crew.ts';
import { launchScript, type Usage } from './launch.ts';
import { expectAllKept, type Place, Reading } from './record.ts';
import { Fleet, Target } from './writers.ts';

const LONG = process.env['SERVICE_TEST_LONG'] === '1';
const STOP_MS = LONG ? 30_000 : 1_500;
const POSTS = LONG ? 10_000 : 200;
/** A transaction of a server that stands still is ended after 5 seconds, and those who wait for it are told to repeat. */
const HELD_MS = 5_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

forEachDatabase('a process that stops for a while', (engine) => {
  let crew: Crew;
  let place: Place;
  before(async () => {
    crew = await Crew.start(engine, { nodeFlags: ['--expose-gc'] });
    const { url, token = '' } = crew.dana;
    const board = await crew.dana.ok('createBoard', { body: { name: 'stopped' } });
    place = { url, token, board };
  });
  after(() => crew.stop());

  function fleet(url: string, writers: number): Fleet {
    const target = new Target();
    target.up(url);
    const { token, board } = place;
    return new Fleet({ target, token, board: board.name, writers, mayRepeat: ({ status }) => status === 503 });
  }

  if (engine === 'postgres')
    it(`is one of two servers: the other goes on within ${HELD_MS / 1_000} seconds, and both have everything`, async function () {
      this.timeout(STOP_MS + 120_000);
      const [there, here] = crew.servers as [Crew['servers'][0], Crew['servers'][0]];
      const [stopping, other] = [fleet(there.url, 4), fleet(here.url, 4)];
      const acknowledged = (one: Fleet, count: number) =>
        Promise.race([new Promise<void>((resolve) => one.after('acknowledged', count, resolve)), one.failure]);
      await Promise.all([acknowledged(stopping, 10), acknowledged(other, 10)]);
      there.child.process.kill('SIGSTOP');
      const stopped = performance.now();
      await acknowledged(other, 20);
      expect(performance.now() - stopped).to.be.below(HELD_MS + 3_000);
      await other.finish();
      await pause(Math.max(0, stopped + STOP_MS - performance.now()));
      there.child.process.kill('SIGCONT');
      await stopping.finish();
      for (const { url } of [there, here]) {
        const reading = new Reading(place.board.id);
        await reading.catchUp({ ...place, url });
        const all = { acknowledged: [...stopping.acknowledged, ...other.acknowledged], pending: new Set<never>() };
        expectAllKept(all, reading);
      }
    });

  it(`is a client: it goes on where it was after ${POSTS} posts, and one that never reads holds nobody up`, async function () {
    this.timeout(STOP_MS + POSTS * 30 + 120_000);
    const { dana, servers } = crew;
    const { name } = await dana.ok('createBoard', { body: { name: 'followed' } });
    const file = fileURLToPath(new URL('following-process.ts', import.meta.url));
    const follower = launchScript(file, [dana.url, place.token, name]);
    const ids: number[] = [];
    follower.process.on('message', (told: { ids: number[] }) => {
      ids.push(...told.ids);
    });
    await follower.ready;
    const deaf = await neverReading(dana, name);
    const before = await servers[0]?.child.usage(true);
    follower.process.kill('SIGSTOP');
    const stopped = performance.now();
    let slowest = 0;
    const lanes = Array.from({ length: 8 }, async (_, lane) => {
      for (let n = lane; n < POSTS; n += 8) {
        const began = performance.now();
        const body = { body: `${n} ${'lorem ipsum '.repeat(80)}` };
        await new Api(dana.url, place.token).ok('postMessage', { params: { board: name }, body });
        slowest = Math.max(slowest, performance.now() - began);
      }
    });
    await Promise.all(lanes);
    const after = await servers[0]?.child.usage(true);
    const more = (held(after) - held(before)) / 1_048_576;
    console.log(`        slowest post ${Math.round(slowest)} ms, ${Math.round(more)} MB more`);
    expect(more, 'MB that the server holds').to.be.below(40);
    await pause(Math.max(0, stopped + STOP_MS - performance.now()));
    follower.process.kill('SIGCONT');
    const { head_seq } = await dana.ok('getBoard', { params: { board: name } });
    await until(() => ids.at(-1) === head_seq, 'it has everything');
    expect(ids).to.deep.equal(Array.from({ length: head_seq }, (_, n) => n + 1));
    deaf.destroy();
    await follower.kill();
  });
});

/** What is left after a collection; the system's figure grows with what was collected too. */
const held = (usage?: Usage): number => (usage?.heapUsed ?? 0) + (usage?.external ?? 0);

/** Opens a stream and reads nothing of it. */
async function neverReading({ url, token }: Api, board: string): Promise<Socket> {
  const socket = open(url);
  await once(socket, 'connect');
  socket.pause();
  socket.on('error', () => {});
  const head = `Host: ${new URL(url).host}\r\nAuthorization: Bearer ${token}`;
  socket.write(`GET /v1/stream?board=${board}&after=0 HTTP/1.1\r\n${head}\r\n\r\n`);
  return socket;
}
