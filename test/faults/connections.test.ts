/**
 * Connections that nobody uses, and heads of requests that come a byte at a time: the server answers everybody else as
 * before, ends what takes too long, and has its memory and its places back afterwards.
 *
 * The short form opens a few hundred, SERVICE_TEST_LONG=1 10,000 idle ones and 1,000 slow ones.
 */
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { Api } from '../support/api.ts';
import { open } from '../support/raw.ts';
import { until } from '../support/until.ts';
import { newPlace, remove } from './databases.ts';
import { launchServer, localKey } from './launch.ts';

const LONG = process.env['SERVICE_TEST_LONG'] === '1';
const IDLE = LONG ? 10_000 : 500;
const SLOW = LONG ? 1_000 : 100;
/** As long as a head may take, and a little more. */
const HEAD_MS = 10_000 + 4_000;

describe('connections that are not used', () => {
  it(`do not keep the server from others: ${IDLE} idle ones, ${SLOW} that send a byte at a time`, async () => {
    const place = await newPlace('sqlite');
    const child = launchServer({ ...place, nodeFlags: ['--expose-gc'] });
    const url = await child.ready;
    const dana = new Api(url, localKey(place.dataDir));
    const { name } = await dana.ok('createBoard', { body: { name: 'busy' } });
    const before = await child.usage(true);

    const idle: Socket[] = [];
    // Half have asked for something and are kept, half never say a word.
    for (let n = 0; n < IDLE; n += 100)
      idle.push(...(await Promise.all(Array.from({ length: 100 }, (_, k) => connected(url, k % 2 === 0)))));
    // They keep their end open, so that the server has to let go of them.
    const ways = { allowHalfOpen: true };
    const slow = await Promise.all(Array.from({ length: SLOW }, () => connected(url, false, ways)));
    const began = performance.now();
    const head = `GET /v1/info HTTP/1.1\r\nHost: ${new URL(url).host}\r\nX-Long: ${'x'.repeat(1_000)}`;
    let sent = 0;
    const dribble = setInterval(() => {
      for (const socket of slow) if (!socket.destroyed) socket.write(head[sent] as string);
      sent++;
    }, 500);

    let slowest = 0;
    for (let n = 0; n < 20; n++) {
      const asked = performance.now();
      await dana.ok('postMessage', { params: { board: name }, body: { body: `${n}` } });
      slowest = Math.max(slowest, performance.now() - asked);
    }
    const during = await child.usage(true);
    const each = (during.rss - before.rss) / (IDLE + SLOW) / 1024;
    console.log(`        slowest post ${Math.round(slowest)} ms, ${each.toFixed(1)} kB for each connection`);
    expect(slowest, 'ms of the slowest post').to.be.below(1_500);
    expect(each, 'kB for each connection').to.be.below(60);

    await until(() => slow.every(({ closed }) => closed), 'the slow ones are ended', HEAD_MS);
    console.log(`        the slow ones ended after ${Math.round(performance.now() - began)} ms`);
    clearInterval(dribble);
    for (const socket of idle) socket.destroy();
    await until(
      async () => (await child.usage(true)).heapUsed < before.heapUsed + 8_388_608,
      'its memory is back',
      15_000,
    );
    expect(await child.stop()).to.equal(0);
    remove(place.dataDir);
  });
});

/** An open connection, which may have had one answer. */
function connected(url: string, asks: boolean, ways: { allowHalfOpen?: boolean } = {}): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = open(url, ways);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      socket.on('error', () => {});
      if (!asks) {
        socket.resume();
        return resolve(socket);
      }
      socket.once('data', () => resolve(socket));
      socket.write(`GET /v1/info HTTP/1.1\r\nHost: ${new URL(url).host}\r\n\r\n`);
    });
  });
}
