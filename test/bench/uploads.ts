/** What a file of 50 MiB costs in memory on its way up and down: the server's resident set, before, and at most meanwhile. */
import { Readable } from 'node:stream';
import { type Figure, round } from './measure.ts';
import { startProduct } from './world.ts';

const SIZE = 52_428_800;
const PIECE = Buffer.alloc(65_536, 'bytes of a large file\n');

export async function uploads(): Promise<Figure[]> {
  const server = await startProduct({ nodeFlags: ['--expose-gc'] });
  await server.call('POST', '/v1/boards', { name: 'large' });
  const send = async (name: string): Promise<void> => {
    const body = Readable.toWeb(Readable.from(pieces()));
    const headers = { Authorization: `Bearer ${server.key}`, 'Content-Type': 'application/octet-stream' };
    const url = `${server.url}/v1/boards/large/files?name=${name}`;
    const answer = await fetch(url, { method: 'POST', headers, body, duplex: 'half' } as RequestInit);
    if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
    const got = await fetch(`${server.url}/v1/boards/large/files/${name}/versions/1`, { headers });
    for await (const _ of got.body as unknown as AsyncIterable<Uint8Array>);
  };
  await send('first.txt');
  const before = (await server.child.usage(true)).rss;
  let most = before;
  let over = false;
  const sampled = (async () => {
    while (!over) most = Math.max(most, (await server.child.usage()).rss);
  })();
  const started = performance.now();
  await send('second.txt');
  const seconds = (performance.now() - started) / 1000;
  over = true;
  await sampled;
  await server.end();
  return [
    { name: 'RSS gained while 50 MiB go up and down', value: `${round((most - before) / 1_048_576, 1)} MiB` },
    { name: '50 MiB up and down', value: `${round(seconds, 2)} s` },
  ];
}

function* pieces(): Generator<Buffer> {
  for (let left = SIZE; left > 0; left -= PIECE.length) yield PIECE.subarray(0, Math.min(left, PIECE.length));
}
