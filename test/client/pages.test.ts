import { expect } from 'chai';
import { pages } from '../../src/client/pages.ts';
import { clientOf, closeServers, failure, sendJson, serve } from './support.ts';

async function listOf(answers: unknown[]) {
  const server = await serve((_, response, count) => sendJson(response, 200, answers[count - 1]));
  return { ...server, client: clientOf(server.origin).client };
}

async function all<T>(list: AsyncGenerator<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const page of list) found.push(page);
  return found;
}

describe('client: pages', () => {
  afterEach(closeServers);

  it('follows next_after to the last page and keeps the other filters', async () => {
    const answers = [
      { messages: [{ seq: 4 }], next_after: 4 },
      { messages: [], next_after: 9 },
      { messages: [{ seq: 12 }], next_after: null },
    ];
    const { client, seen } = await listOf(answers);
    const query = { after: 2, limit: 1, from: 'writer' };
    expect(await all(pages(client, 'listMessages', { params: { board: 'demo' }, query }))).to.deep.equal(answers);
    expect(seen.map((request) => request.url)).to.deep.equal(
      [2, 4, 9].map((after) => `/v1/boards/demo/messages?after=${after}&limit=1&from=writer`),
    );
  });

  it('asks for no page that its reader does not want', async () => {
    const { client, seen } = await listOf([{ messages: [], next_after: 4 }]);
    for await (const _ of pages(client, 'listMessages', { params: { board: 'demo' } })) break;
    expect(seen).to.have.length(1);
  });

  it('walks boards and hidden boards together, and repeats none when one list is longer', async () => {
    const answers = [
      { boards: [{ name: 'a' }], hidden_boards: [{ id: 'brd_1' }], next_after: null, next_hidden_after: 'brd_1' },
      { boards: [], hidden_boards: [{ id: 'brd_2' }], next_after: null, next_hidden_after: null },
    ];
    const { client, seen } = await listOf(answers);
    expect(await all(pages(client, 'listBoards', { query: { all: true } }))).to.have.length(2);
    expect(seen[1]?.url).to.equal('/v1/boards?all=true&after=a&hidden_after=brd_1');
    const other = await listOf([
      { boards: [{ name: 'a' }], hidden_boards: [{ id: 'brd_1' }], next_after: 'a', next_hidden_after: null },
      { boards: [{ name: 'b' }], hidden_boards: [], next_after: null, next_hidden_after: null },
    ]);
    await all(pages(other.client, 'listBoards', { query: { all: true } }));
    expect(other.seen[1]?.url).to.equal('/v1/boards?all=true&after=a&hidden_after=brd_1');
  });

  it('says server_unexpected instead of asking for the same page for ever', async () => {
    const { client, seen } = await listOf(Array.from({ length: 9 }, () => ({ members: [], next_after: 'mem_1' })));
    const error = await failure(all(pages(client, 'listMembers', { params: { board: 'demo' } })));
    expect(error.code).to.equal('server_unexpected');
    expect(seen).to.have.length(2);
  });
});
