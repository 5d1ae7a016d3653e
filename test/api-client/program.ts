/** What somebody would write with a generated client: it posts, reads, waits and follows. `paths` is made by the test. */
import createClient from 'openapi-fetch';
import type { paths } from './generated.d.ts';

const { BASE_URL: baseUrl, TOKEN: token } = process.env;
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
const path = { board: 'generated' };

/** The data of an answer that must be a success. */
function took<T>({ data, error }: { data?: T; error?: { error: { code: string; message: string } } }): T {
  if (error) throw new Error(`${error.error.code}: ${error.error.message}`);
  return data!;
}

const board = took(await client.POST('/v1/boards', { body: { name: path.board, title: 'Generated' } }));
const followed = await client.GET('/v1/stream', {
  params: { query: { board: board.name, after: 0 } },
  parseAs: 'stream',
});
const header = { 'Idempotency-Key': 'once' };
const post = () => client.POST('/v1/boards/{board}/messages', { params: { path, header }, body: { body: 'hello' } });
const { message } = { message: took(await post()) };
const again = took(await post());
const page = took(await client.GET('/v1/boards/{board}/messages', { params: { path, query: { limit: 10 } } }));

const waiting = client.GET('/v1/messages/{message}/replies', {
  params: { path: { message: message.id }, query: { wait: 30 } },
});
took(
  await client.POST('/v1/boards/{board}/messages', {
    params: { path },
    body: { body: 'again', reply_to: message.id, to: ['all'] },
  }),
);
const { replies } = took(await waiting);

const reader = took(followed)!.pipeThrough(new TextDecoderStream()).getReader();
let seen = '';
while (!seen.includes(`"seq":${replies[0]!.seq}`)) {
  const { value, done } = await reader.read();
  if (done) throw new Error(`the stream ended after ${seen}`);
  seen += value;
}
await reader.cancel();

const refused = await client.GET('/v1/boards/{board}', { params: { path: { board: 'nowhere' } } });
process.stdout.write(
  JSON.stringify({
    repeated: again.id === message.id,
    read: page.messages.map(({ body }) => body),
    waited: replies.map(({ body }) => body),
    refused: refused.error?.error.code,
  }),
);
