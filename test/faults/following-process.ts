/**
 * A client that follows a board's stream, and opens it again at the last number it saw whenever it ends: started as a
 * program of its own, which can be stopped. It tells the numbers it sees.
 */
import { Api } from '../support/api.ts';
import { TestStream } from '../support/stream.ts';

const [url = '', token = '', board = ''] = process.argv.slice(2);
const seen: number[] = [];
process.on('disconnect', () => process.exit(1));

for (let first = true; ; first = false) {
  const stream = await TestStream.open(new Api(url, token), { board, after: seen.at(-1) ?? 0 });
  if (first) process.stdout.write(`${JSON.stringify({ url })}\n`);
  let read = 0;
  await stream.until(() => {
    const frames = stream.frames.slice(read);
    read = stream.frames.length;
    const ids = frames.filter(({ event }) => event === 'event').map(({ id }) => Number(id));
    seen.push(...ids);
    if (ids.length > 0) process.send?.({ ids });
    return stream.ended;
  }, 600_000);
}
