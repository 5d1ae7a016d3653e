import { expect } from 'chai';
import { builderOf } from '../../../src/server/db/statement.ts';
import type { ReadTx } from '../../../src/server/db/tx.ts';
import { countMessagesAfter, messageCountsOf } from '../../../src/server/tasks/tags.store.ts';
import type { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { setPolicy } from '../../support/state.ts';

forEachDatabase('what a message is about', (engine) => {
  let server: TestServer;
  let board: string;
  let agent: Agent;
  let refs: string[];
  before(async () => {
    server = await startTestServer(engine);
  });
  beforeEach(async () => {
    board = (await newBoard(server.dana)).name;
    agent = await newAgent(server.dana, board);
    refs = [];
    for (const title of ['one', 'two', 'three', 'four']) {
      refs.push((await server.dana.ok('createTask', { params: { board }, body: { title } })).ref);
    }
  });
  after(() => server.stop());

  const about = async (by: Api, body: string, more: Record<string, unknown> = {}) =>
    (await post(by, board, body, more)).about.map((task) => `${task.how} ${task.ref}`);

  it('is what was given, else the thread, else the current task; then what the text names', async () => {
    const [one, two, three] = refs as [string, string, string];
    await agent.ok('startTask', { params: { board, task: one } });
    const onTwo = await post(server.dana, board, 'x', { about: [two] });
    const onNothing = await post(server.dana, board, 'x');
    expect(await about(agent, 'plain')).to.deep.equal([`current ${one}`]);
    expect(await about(agent, 'reply', { reply_to: onTwo.id })).to.deep.equal([`thread ${two}`]);
    expect(await about(agent, 'reply', { reply_to: onNothing.id, to: ['all'] })).to.deep.equal([`current ${one}`]);
    expect(await about(agent, `see ${three}`, { about: [] })).to.deep.equal([`named ${three}`]);
    expect(await about(agent, `see ${three.toLowerCase()} and ${one}`)).to.deep.equal([
      `current ${one}`,
      `named ${three}`,
    ]);
    expect(await about(server.dana, 'plain')).to.deep.equal([]);
    expect(await about(server.dana, 'x', { about: [two.toLowerCase(), 2, one].map(String) })).to.deep.equal([
      `given ${two}`,
      `given ${one}`,
    ]);
  });

  it('counts no reference in code, links or longer words, and at most eight tasks', async () => {
    const [one] = refs as [string];
    expect(await about(server.dana, `\`${one}\` https://x.example/${one} ${one}-x`)).to.deep.equal([]);
    for (let n = 5; n <= 10; n++) {
      refs.push((await server.dana.ok('createTask', { params: { board }, body: { title: `t${n}` } })).ref);
    }
    expect(await about(server.dana, refs.join(' '))).to.have.length(8);
    expect(await server.dana.refused('postMessage', { params: { board }, body: { body: 'x', about: refs } })).to.equal(
      '400 invalid_request',
    );
    expect(
      await server.dana.refused('postMessage', { params: { board }, body: { body: 'x', about: ['ZZZ-1'] } }),
    ).to.equal('404 task_not_found');
  });

  it('filters the timeline, and is counted on the task as far as it may be read', async () => {
    const [one] = refs as [string];
    const quiet = await newAgent(server.dana, board);
    await setPolicy(server, board, { visibility: 'addressed' });
    const first = await post(server.dana, board, `about ${one}`, { to: [`@${agent.name}`] });
    await post(server.dana, board, 'x', { about: [one] });
    await post(agent, board, 'reply', { reply_to: first.id });
    const counts = async (by: Api) => {
      const task = await by.ok('getTask', { params: { board, task: one } });
      const { messages } = await by.ok('listMessages', { params: { board }, query: { task: one } });
      return [task.message_count, task.thread_count, messages.length];
    };
    expect(await counts(server.dana)).to.deep.equal([3, 2, 3]);
    expect(await counts(agent)).to.deep.equal([3, 2, 3]);
    expect(await counts(quiet)).to.deep.equal([1, 1, 1]);
    await server.dana.ok('updateTask', { params: { board, task: one }, body: { stands: 'here' } });
    await post(server.dana, board, 'after', { about: [one] });
    const { stands } = await quiet.ok('getTask', { params: { board, task: one } });
    expect(stands?.messages_since).to.equal(1);
  });

  it('is counted by its tags alone for who may read all messages', async () => {
    const asked: string[] = [];
    const query: ReadTx['query'] = async (build) => {
      asked.push(build(builderOf(engine)).toString());
      return [];
    };
    for (const readsAll of [true, false]) {
      const reader = { memberId: agent.memberId, readsAll };
      await countMessagesAfter({ query } as ReadTx, 'task', 1, reader);
      await messageCountsOf({ query } as ReadTx, ['task'], reader);
    }
    expect(asked.map((sql) => /join .messages./.test(sql))).to.deep.equal([false, false, true, true]);
  });
});
