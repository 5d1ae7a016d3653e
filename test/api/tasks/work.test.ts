import { expect } from 'chai';
import type { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { put } from '../../support/files.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { putOnBoard } from '../../support/state.ts';
import { newBinding, pairOn, roundTrip, select, verifying } from '../pairing/cast.ts';

forEachDatabase('the work in an inbox', (engine) => {
  let server: TestServer;
  let pam: Api;
  let board: string;
  let agent: Agent;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
  });
  beforeEach(async () => {
    board = (await newBoard(server.dana)).name;
    await putOnBoard(server, board, pam);
    agent = await newAgent(pam, board);
  });
  after(() => server.stop());

  const work = async (of: Agent = agent) => (await of.ok('readInbox')).work;
  const open = (title: string, by: Api = server.dana) => by.ok('createTask', { params: { board }, body: { title } });
  const on = (task: string, body?: unknown) => ({ params: { board, task }, ...(body ? { body } : {}) });

  it('is nothing at first', async () => {
    expect(await work()).to.deep.equal({
      current_task: null,
      open_tasks: 0,
      oldest_open: null,
      posts_without_task: 0,
      asks_waiting: 0,
      asks_to_it: 0,
      line: null,
      brief: null,
      nudges: true,
    });
  });

  it('is the task it is on, with where that stands, and what nobody has picked up', async () => {
    const [one, two, three] = [await open('one'), await open('two'), await open('three')];
    await agent.ok('startTask', on(one.ref));
    await agent.ok('updateTask', on(one.ref, { stands: 'half' }));
    await post(server.dana, board, 'about it', { about: [one.ref] });
    const now = await work();
    expect(now.current_task).to.deep.include({ id: one.id, ref: one.ref, title: 'one', owner: true });
    expect(now.current_task?.stands).to.deep.include({ text: 'half', version: 1, messages_since: 1 });
    expect([now.open_tasks, now.oldest_open]).to.deep.equal([2, { id: two.id, ref: two.ref, title: 'two' }]);
    expect(now.line).to.deep.include({ kind: 'working', text: 'one', source: 'task' });
    await pam.ok('startTask', on(two.ref));
    await agent.ok('joinTask', on(two.ref));
    const then = await work();
    expect(then.current_task).to.deep.include({ ref: two.ref, owner: false, stands: null });
    expect(then.oldest_open?.ref).to.equal(three.ref);
  });

  it('counts its latest posts about no task, while it is on none, up to a hundred', async () => {
    const task = await open('one');
    await post(agent, board, 'x', { about: [task.ref] });
    for (let n = 0; n < 3; n++) await post(agent, board, `post ${n}`);
    await post(pam, board, 'of somebody else', { about: [task.ref] });
    expect((await work()).posts_without_task).to.equal(3);
    await agent.ok('startTask', on(task.ref));
    expect((await work()).posts_without_task).to.equal(0);
    await agent.ok('dropTask', on(task.ref, {}));
    expect((await work()).posts_without_task).to.equal(3);
    for (let n = 0; n < 99; n++) await post(agent, board, `more ${n}`);
    expect((await work()).posts_without_task).to.equal(100);
  });

  it('counts no ping and no reply by which two paired sessions show that they reach each other', async () => {
    const pair = await pairOn(server);
    const { request, proofs } = await verifying(server, pair);
    const { initiator, recipient } = pair;
    await post(initiator.agent, pair.board.name, 'about no task');
    await roundTrip(pair, request, proofs.initiator, 'initiator');
    await roundTrip(pair, request, proofs.recipient, 'recipient');
    expect((await work(initiator.agent)).posts_without_task).to.equal(1);
    expect((await work(recipient.agent)).posts_without_task).to.equal(0);
    await post(recipient.agent, pair.board.name, 'about no task either');
    expect((await work(recipient.agent)).posts_without_task).to.equal(1);
  });

  it('counts no earlier ping or reply once another session or another agent is paired', async () => {
    const pair = await pairOn(server);
    const { request, proofs } = await verifying(server, pair);
    const { initiator, recipient } = pair;
    await roundTrip(pair, request, proofs.initiator, 'initiator');
    const unpaired = async () => {
      expect((await work(initiator.agent)).posts_without_task).to.equal(0);
      expect((await work(recipient.agent)).posts_without_task).to.equal(0);
    };
    await select(server, pair, request, 'initiator', { session_binding: newBinding(), replace: true });
    await unpaired();
    const spare = await newAgent(initiator.person, pair.board.name);
    const another = { agent_id: spare.memberId, session_binding: newBinding(), generation: 2, replace: true };
    await select(server, pair, request, 'initiator', another);
    await unpaired();
  });

  it('counts open asks of its own and to it, until they are answered, withdrawn or gone with', async () => {
    const ask = (from: Api, more = {}) => post(from, board, 'which?', { ask: { options: ['a', 'b'] }, ...more });
    const own = await ask(agent);
    const soon = new Date(server.clock.now() + 60_000).toISOString();
    await post(agent, board, 'that way?', { ask: { going_with: 'a', going_at: soon } });
    const received = await ask(server.dana, { to: [`@${agent.name}`] });
    await ask(agent, { to: ['@pam'] });
    expect(await work()).to.include({ asks_waiting: 3, asks_to_it: 1 });
    await post(pam, board, 'a', { reply_to: own.id, answer: { option: 1 } });
    expect(await work()).to.include({ asks_waiting: 2, asks_to_it: 1 });
    server.clock.advance(61_000);
    await post(server.dana, board, 'never mind', { reply_to: received.id, answer: { withdrawn: true } });
    expect(await work()).to.include({ asks_waiting: 1, asks_to_it: 0 });
  });

  it('is the brief as long as this agent wrote its latest version, and what happened since', async () => {
    const brief = await put(agent, board, 'brief.md', 'one', { brief: true });
    await post(server.dana, board, 'news');
    expect((await work()).brief).to.deep.equal({
      file_id: brief.id,
      name: 'brief.md',
      version: 1,
      at: brief.latest.at,
      messages_since: 1,
      tasks_done_since: 0,
    });
    await put(server.dana, board, 'brief.md', 'two', { brief: true, base: 1, file_id: brief.id });
    expect((await work()).brief).to.equal(null);
  });

  it('counts messages about its task only where it may read them, and says when reminders are off', async () => {
    const task = await open('one');
    await agent.ok('startTask', on(task.ref));
    await agent.ok('updateTask', on(task.ref, { stands: 'half' }));
    await server.dana.ok('updateBoard', {
      params: { board },
      body: { policy: { visibility: 'addressed', nudges: 'off' } },
    });
    await post(server.dana, board, 'between us', { to: ['@pam'], about: [task.ref] });
    await post(server.dana, board, 'for you', { to: [`@${agent.name}`], about: [task.ref] });
    const { current_task, nudges } = await work();
    expect([current_task?.stands?.messages_since, nudges]).to.deep.equal([1, false]);
  });
});
