/**
 * Seen from the side: all that an agent can ask for is asked before and after others wrote what it may not read. No
 * answer may differ but in the board's head and the envelopes of the record, which are for everybody on the board.
 */
import { expect } from 'chai';
import type { OperationName } from '../../../src/contract/operations.ts';
import type { Call } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { put } from '../../support/files.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

forEachDatabase('what an agent may not read', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('moves no answer that it gets: no list, count, place in a search, score, file, task or refusal', async () => {
    const board = (await newBoard(server.dana, { preset: 'recommended' })).name;
    const params = { board };
    const person = `@${(await server.dana.ok('getMe')).name}`;
    const agent = (name: string) => newAgent(server.dana, board, { name });
    const [a, b, outsider] = [await agent('a'), await agent('b'), await agent('outsider')];
    const task = await server.dana.ok('createTask', { params, body: { title: 'mend the pump' } });
    await put(server.dana, board, 'notes/pump.md', 'pump words');
    const root = await post(server.dana, board, 'pump for all to see', { to: ['@a', '@outsider'] });
    await post(outsider, board, 'pump, said once', { to: [person] });

    const asked = questions(board, task.ref, root);
    const before = await answers(outsider, asked);

    const hidden = await post(a, board, `pump pump secretive @outsider ${task.ref}`, { to: ['@b'] });
    const files = [{ file: 'notes/pump.md' }];
    await post(a, board, 'pump secretive file', { to: ['@b'], files, about: [task.ref] });
    await post(b, board, 'pump secretive reply', { to: ['@a'], reply_to: hidden.id });
    await post(a, board, 'pump secretive aside', { to: [person], reply_to: root.id });
    const ask = await post(a, board, 'secretive?', { ask: { options: ['pump', 'no'], going_with: 'pump' } });
    await post(server.dana, board, 'pump', { to: ['@a'], reply_to: ask.id, answer: { option: 1 } });
    await server.dana.ok('addReaction', { params: { message: hidden.id, reaction: 'eyes' } });
    await a.ok('addReaction', { params: { message: hidden.id, reaction: 'tada' } });

    const after = await answers(outsider, asked);
    for (const [name, answer] of after) expect(answer, name).to.deep.equal(before.get(name));
    // The same questions of somebody who may read it do get other answers.
    const told = await answers(a, asked);
    expect(told.get('search {"q":"secretive"}')).not.to.deep.equal(after.get('search {"q":"secretive"}'));

    const none = 'msg_01K5A0000000000000000000P1';
    const replies = [{}, { answer: { option: 1 } }, { answer: { withdrawn: true } }, { to: ['@nobody'] }];
    for (const message of [hidden.id, ask.id]) {
      for (const body of replies) {
        const send = async (reply_to: string) =>
          (await outsider.call('postMessage', { params, body: { body: 'x', reply_to, ...body } })).text;
        expect(await send(message), JSON.stringify(body)).to.equal(await send(none));
      }
    }
  });
});

type Question = [name: string, operation: OperationName, call: Call];

function questions(board: string, task: string, root: { id: string; seq: number }): Question[] {
  const params = { board };
  const list: [OperationName, Call][] = [
    ['getBoard', { params }],
    ['listBoards', {}],
    ['getMe', {}],
    ['readInbox', {}],
    ['listMembers', { params }],
    ['listBoardPeople', { params }],
    ['listTasks', { params, query: { state: 'all' } }],
    ['listAllTasks', {}],
    ['getTask', { params: { board, task } }],
    ['listFiles', { params }],
    ['getFile', { params: { board, file: 'notes/pump.md' } }],
    ['listFilePosts', { params: { board, file: 'notes/pump.md' } }],
    ['listAsks', { query: { state: 'all' } }],
    ['listThreads', { params }],
    ['getMessage', { params: { message: root.id } }],
    ['listReplies', { params: { message: root.id } }],
    ['listReceipts', { params: { board, seq: root.seq } }],
    ['getMessageBySeq', { params: { board, seq: root.seq + 2 } }],
    ['listReceipts', { params: { board, seq: root.seq + 2 } }],
  ];
  const windows: Call['query'][] = [{ newest: true, limit: 1 }, { limit: 1 }, { task }, { has: 'ask' }, { from: 'a' }];
  for (const query of [{}, ...windows]) {
    list.push(['listMessages', { params, query }]);
  }
  for (const sort of ['newest', 'relevance']) {
    for (const q of ['pump', 'secretive', 'pump -secretive', 'pu*']) list.push(['search', { query: { q, sort } }]);
  }
  for (const kind of ['message', 'task', 'file']) list.push(['search', { query: { q: 'pump', kind } }]);
  list.push(['search', { query: { q: 'secretive' } }], ['search', { query: { q: 'pump', limit: 1 } }]);
  return list.map(([operation, call]) => {
    const name = `${operation} ${JSON.stringify(call.query ?? call.params ?? {})}`;
    return [name, operation, call];
  });
}

/** Each answer whole, refusals too, but for the head of the board. */
async function answers(reader: Agent, asked: Question[]): Promise<Map<string, string>> {
  const all = new Map<string, string>();
  for (const [name, operation, call] of asked) {
    const { status, text } = await reader.call(operation, call);
    all.set(name, `${status} ${text.replace(/"head_seq":\d+/g, '"head_seq":0')}`);
  }
  return all;
}
