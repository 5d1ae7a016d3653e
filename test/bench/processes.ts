/** Two servers on one Postgres: how soon a post through one is on a stream of the other. */
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { launchServer, localKey } from '../faults/launch.ts';
import { Engine } from './engine.ts';
import { type Figure, quantile, round } from './measure.ts';
import { Follower } from './sse.ts';
import { request, Wire } from './wire.ts';
import { newFolder } from './world.ts';

const POSTS = 300;
const WARM_UP = 50;
/** Between two posts, so that each is told of by itself. */
const REST_MS = 30;
const LIMIT_MS = 5_000;
const TARGET_MS = 100;

export async function processes(): Promise<Figure[]> {
  const engine = await Engine.start();
  const db = engine.url;
  const folders = [newFolder('one'), newFolder('other')] as const;
  const one = launchServer({ dataDir: folders[0], db });
  const url = await one.ready;
  mkdirSync(folders[1], { recursive: true });
  for (const file of ['server-secret', 'local-key']) copyFileSync(join(folders[0], file), join(folders[1], file));
  const other = launchServer({ dataDir: folders[1], db });
  try {
    const key = localKey(folders[0]);
    const writer = await Wire.open(url);
    const headers = { Authorization: `Bearer ${key}` };
    await writer.send(request(url, 'POST', '/v1/boards', headers, JSON.stringify({ name: 'shared' })));
    const there = await other.ready;
    const arrived = new Map<number, (at: number) => void>();
    const seen = new Map<number, number>();
    const stream = await Follower.open(there, request(there, 'GET', '/v1/stream?board=shared', headers), (seq, at) => {
      seen.set(seq, at);
      arrived.get(seq)?.(at);
    });
    const fromSending: number[] = [];
    const fromAnswer: number[] = [];
    for (let n = 0; n < WARM_UP + POSTS; n++) {
      const body = JSON.stringify({ body: `Message ${n}.` });
      const sent = performance.now();
      const answer = await writer.send(
        request(url, 'POST', '/v1/boards/shared/messages', { ...headers, 'Idempotency-Key': `post-${n}` }, body),
      );
      if (answer.status !== 201) throw new Error(`a post got ${answer.status}: ${answer.body.toString()}`);
      const { seq } = JSON.parse(answer.body.toString()) as { seq: number };
      const at = seen.get(seq) ?? (await within((resolve) => void arrived.set(seq, resolve)));
      if (n >= WARM_UP) {
        fromSending.push(at - sent);
        fromAnswer.push(Math.max(at - answer.at, 0));
      }
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
    }
    if (stream.problem !== null) throw new Error(stream.problem);
    stream.close();
    writer.close();
    const both = (samples: number[]): string =>
      `${round(quantile(samples, 0.5))} / ${round(quantile(samples, 0.99))} ms`;
    const ratio = quantile(fromSending, 0.5);
    return [
      { name: 'processes: post through one to frame of the other, p50 / p99', value: both(fromSending) },
      { name: 'processes: the same from its answer on', value: both(fromAnswer) },
      {
        name: 'processes: median in milliseconds',
        value: round(ratio),
        ratio,
        target: { op: '<=', value: TARGET_MS },
      },
    ];
  } finally {
    await Promise.all([one.stop(), other.stop()]);
    await engine.end();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

/** What is called back within five seconds. */
function within(begin: (resolve: (at: number) => void) => void): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('a post did not arrive')), LIMIT_MS);
    begin((at) => {
      clearTimeout(timer);
      resolve(at);
    });
  });
}
