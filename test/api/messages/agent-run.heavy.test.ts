import { expect } from 'chai';
import type { Message } from '../../../src/contract/types.ts';
import { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';

forEachDatabase('agents who answer each other in a thread', (engine) => {
  let server: TestServer;
  let dana: Api;
  let pam: Api;
  let board: string;
  let boardId: string;
  let claude: Agent;
  let codex: Agent;
  before(async () => {
    server = await startTestServer(engine);
    dana = server.dana;
    pam = await server.person('pam');
  });
  beforeEach(async () => {
    ({ name: board, id: boardId } = await newBoard(dana));
    await dana.ok('addBoardPerson', { params: { board }, body: { handle: 'pam' } });
    claude = await newAgent(dana, board, { name: 'claude' });
    codex = await newAgent(pam, board, { name: 'codex' });
  });
  after(() => server.stop());

  const setLimits = (agent_run: 'off' | { notice: number; hold: number }) =>
    dana.ok('updateBoard', { params: { board }, body: { policy: { agent_run } } });
  const rootOf = async (id: string): Promise<Message> =>
    (await dana.ok('getMessage', { params: { message: id } })).message;
  const reply = (from: Api, to: Message, body = 'ok') => post(from, board, body, { reply_to: to.id });

  /** Agents' messages in turn until the run has this length; answers them, the first message included. */
  async function runTo(length: number, root?: Message): Promise<Message[]> {
    const said = [root ?? (await post(claude, board, 'Retry design', { to: ['@codex'] }))];
    const from = root?.from.kind === 'human' ? 0 : 1;
    while (said.length < length + (1 - from))
      said.push(await reply(said.length % 2 === 1 ? codex : claude, said[0] as Message));
    return said;
  }
  const upload = (from: Api) => from.ok('uploadFile', { params: { board }, query: { name: 'plan.md' }, bytes: 'one' });
  const waits = (agent: Agent, wait = 1) => agent.ok('readInbox', { query: { wait } });
  const bodies = async (agent: Agent) => (await agent.ok('readInbox', {})).messages.map(({ body }) => body);
  const ackAll = async (agent: Agent) => {
    const { messages } = await agent.ok('readInbox', {});
    await agent.ok('ackInbox', { body: { up_to: messages.at(-1)?.seq ?? 0 } });
  };

  it('are counted on the first message, shown from ten messages in a row on', async () => {
    const said = await runTo(10);
    expect(said.map(({ agent_run }) => agent_run)).to.deep.equal([...Array.from({ length: 9 }, () => undefined), 10]);
    expect((await rootOf(said[0]?.id ?? '')).agent_run).to.equal(10);
    const inbox = await claude.ok('readInbox', {});
    expect(inbox.messages.at(-1)?.agent_run).to.equal(10);
    const elsewhere = await post(claude, board, 'Another thread');
    expect(elsewhere.agent_run).to.equal(undefined);
  });

  it('are told once a run to say what is settled, each with its own person', async () => {
    const said = await runTo(13);
    const text = (handle: string) =>
      `12 messages by agents in a row in this thread. Say what is settled, or ask your person: service ask @${handle} …`;
    expect(said.map(({ notice }) => notice ?? '').filter(Boolean)).to.deep.equal([text('pam')]);
    expect(said[11]?.notice).to.equal(text('pam'));
    const inbox = await claude.ok('readInbox', {});
    expect(inbox.messages.filter(({ notice }) => notice).map(({ id, notice }) => [id, notice])).to.deep.equal([
      [said[11]?.id, text('root')],
    ]);
    expect((await rootOf(said[11]?.id ?? '')).notice).to.equal(undefined);
    await setLimits({ notice: 1, hold: 4 });
    expect((await post(codex, board, 'One is enough')).notice).to.match(
      /^1 message by agents in a row in this thread\./,
    );
  });

  it('are told to ask their person by the name that the person has on the board', async () => {
    ({ name: board } = await newBoard(dana));
    await newAgent(dana, board, { name: 'pam' });
    await dana.ok('addBoardPerson', { params: { board }, body: { handle: 'pam' } });
    claude = await newAgent(dana, board, { name: 'claude' });
    codex = await newAgent(pam, board, { name: 'codex' });
    await setLimits({ notice: 2, hold: 4 });
    const said = await runTo(3);
    expect(said[1]?.notice).to.include('service ask @pam-2 ');
    await setLimits({ notice: 3, hold: 4 });
    const { messages } = await codex.ok('readInbox', {});
    expect(messages.find(({ notice }) => notice)?.notice).to.include('service ask @pam-2 ');
  });

  it('start anew with a message by a person', async () => {
    const said = await runTo(11);
    await reply(dana, said[0] as Message, 'Go on');
    expect((await rootOf(said[0]?.id ?? '')).agent_run).to.equal(undefined);
    expect((await reply(codex, said[0] as Message)).agent_run).to.equal(undefined);
  });

  it('wake nobody over the limit, lose nothing, and receipts say held', async () => {
    await setLimits({ notice: 2, hold: 4 });
    const said = await runTo(4);
    await ackAll(claude);
    await ackAll(codex);
    const held = await reply(claude, said[0] as Message, 'five');
    expect(held).to.include({ held: true, reason: 'agent_run' });
    expect((await rootOf(said[0]?.id ?? '')).thread).to.equal('held');
    const waited = await waits(codex);
    expect(waited.messages).to.deep.equal([]);
    expect(waited.unread).to.equal(1);
    const read = await codex.ok('readInbox', {});
    expect(read.messages).to.have.length(1);
    expect(read.messages[0]).to.include({ body: 'five', held: true, reason: 'agent_run' });
    const { recipients } = await claude.ok('listReceipts', { params: { board, seq: held.seq } });
    expect(recipients.map(({ member, state, held: is, reason }) => [member.name, state, is, reason])).to.deep.equal([
      ['codex', 'pending', true, 'agent_run'],
    ]);
    await ackAll(codex);
    const after = await claude.ok('listReceipts', { params: { board, seq: held.seq } });
    expect(after.recipients[0]).to.include({ state: 'received' }).and.not.have.property('held');
  });

  it('come with the next message that wakes', async () => {
    await setLimits({ notice: 2, hold: 3 });
    const said = await runTo(3);
    await ackAll(codex);
    await reply(claude, said[0] as Message, 'quiet');
    const waiting = waits(codex, 30);
    await post(pam, board, 'to you', { to: ['@codex'] });
    expect((await waiting).messages.map(({ body }) => body)).to.deep.equal(['quiet', 'to you']);
  });

  it('wake an agent by what lies behind a page of held messages', async () => {
    await setLimits({ notice: 1, hold: 2 });
    const said = await runTo(2);
    await ackAll(codex);
    for (let n = 0; n < 3; n++) await reply(claude, said[0] as Message, `held ${n}`);
    const page = () => codex.ok('readInbox', { query: { wait: 1, limit: 2 } });
    expect((await page()).messages).to.deep.equal([]);
    await post(pam, board, 'to you', { to: ['@codex'] });
    expect((await page()).messages.map(({ body }) => body)).to.deep.equal(['held 0', 'held 1']);
  });

  it('go on for as many more when a person of one of them continues, and those held wake', async () => {
    await setLimits({ notice: 2, hold: 4 });
    const said = await runTo(4);
    await ackAll(codex);
    await reply(claude, said[0] as Message, 'held');
    const waiting = waits(codex, 30);
    const root = await pam.ok('setThreadRun', { params: { message: said[2]?.id ?? '' }, body: { action: 'continue' } });
    expect(root).to.include({ id: said[0]?.id }).and.not.have.property('thread');
    expect((await waiting).messages.map(({ body, held }) => [body, held])).to.deep.equal([['held', undefined]]);
    const more = [];
    for (let n = 6; n <= 10; n++) more.push(await reply(n % 2 === 1 ? claude : codex, said[0] as Message));
    expect(more.map(({ held }) => held ?? false)).to.deep.equal([false, false, false, true, true]);
    const { events } = await dana.ok('listEvents', { params: { board }, query: { type: 'thread.continued' } });
    expect(events.map(({ actor, data }) => [actor.name, data])).to.deep.equal([
      ['pam', { agent_run: 5, message_id: said[0]?.id }],
    ]);
  });

  it('wake whom they are for once a person writes in the thread, also where that is for another', async () => {
    await setLimits({ notice: 1, hold: 2 });
    const [root] = (await runTo(2)) as [Message];
    await ackAll(codex);
    await reply(claude, root, 'held');
    const waiting = waits(codex, 30);
    await post(pam, board, 'Go on', { reply_to: root.id, to: ['@claude'] });
    expect((await waiting).messages.map(({ body, held }) => [body, held])).to.deep.equal([['held', undefined]]);
    expect(await needsHere()).to.deep.equal([]);
  });

  const heldIn = async (root: Message) =>
    (await dana.ok('listReplies', { params: { message: root.id } })).replies.map((message) => message.held ?? false);
  const needsHere = async () => (await dana.ok('listNeeds', {})).needs.filter((need) => need.board === board);

  it('go on at once where the policy allows as many as are held, and wait for a person where it does not', async () => {
    await setLimits({ notice: 1, hold: 2 });
    const [root] = (await runTo(5)) as [Message];
    await ackAll(codex);
    await reply(claude, root, 'last');
    const waiting = waits(codex, 30);
    await setLimits({ notice: 1, hold: 4 });
    expect(await heldIn(root)).to.deep.equal([false, false, false, true, true]);
    expect((await rootOf(root.id)).thread).to.equal('held');
    expect(await needsHere()).to.have.length(1);
    await setLimits({ notice: 1, hold: 6 });
    expect((await waiting).messages.map(({ body }) => body)).to.deep.equal(['last']);
    expect(await heldIn(root)).to.deep.equal([false, false, false, false, false]);
    expect((await rootOf(root.id)).thread).to.equal(undefined);
    expect(await needsHere()).to.deep.equal([]);
    expect((await reply(codex, root)).held).to.equal(true);
  });

  it('go on up to the limit of the policy where a person had let them go on for fewer', async () => {
    await setLimits({ notice: 1, hold: 2 });
    const [root] = (await runTo(3)) as [Message];
    await dana.ok('setThreadRun', { params: { message: root.id }, body: { action: 'continue' } });
    await reply(codex, root);
    expect((await reply(claude, root)).held).to.equal(true);
    await setLimits({ notice: 1, hold: 6 });
    expect(await heldIn(root)).to.deep.equal([false, false, false, false]);
    expect((await reply(codex, root)).held).to.equal(undefined);
    expect((await reply(claude, root)).held).to.equal(true);
  });

  it('stay stopped and held whatever the policy allows', async () => {
    await setLimits({ notice: 1, hold: 2 });
    const [root] = (await runTo(3)) as [Message];
    const decide = (action: 'continue' | 'stop') =>
      dana.ok('setThreadRun', { params: { message: root.id }, body: { action } });
    await decide('stop');
    await setLimits('off');
    expect((await rootOf(root.id)).thread).to.equal('stopped');
    expect(await heldIn(root)).to.deep.equal([false, true]);
    expect(await decide('continue')).to.not.have.property('thread');
    expect(await heldIn(root)).to.deep.equal([false, false]);
  });

  it('are refused once a person stopped them, until a person writes in the thread', async () => {
    const [root, answer] = (await runTo(2)) as [Message, Message];
    const stopped = await dana.ok('setThreadRun', { params: { message: root.id }, body: { action: 'stop' } });
    expect(stopped.thread).to.equal('stopped');
    const refused = await codex.call('postMessage', { params: { board }, body: { body: 'but', reply_to: answer.id } });
    expect([refused.status, refused.body]).to.deep.equal([
      409,
      {
        error: {
          code: 'thread_held',
          message: 'A person stopped this thread for agents.',
          hint: 'It opens again when a person writes in it, or continues it: service thread continue MESSAGE.',
        },
      },
    ]);
    await reply(pam, root, 'Go on');
    await reply(codex, root);
    await dana.ok('setThreadRun', { params: { message: root.id }, body: { action: 'stop' } });
    await dana.ok('setThreadRun', { params: { message: root.id }, body: { action: 'continue' } });
    await reply(codex, root);
    const { events } = await dana.ok('listEvents', {
      params: { board },
      query: { type: 'thread.stopped,thread.continued' },
    });
    expect(events.map(({ type }) => type)).to.deep.equal(['thread.stopped', 'thread.stopped', 'thread.continued']);
  });

  it('are stopped, and let go on, with one event however often that is said', async () => {
    const [root] = (await runTo(2)) as [Message];
    const decide = (action: 'continue' | 'stop') =>
      dana.ok('setThreadRun', { params: { message: root.id }, body: { action } });
    const decided = [];
    for (const action of ['stop', 'stop', 'continue', 'continue', 'stop', 'stop'] as const)
      decided.push((await decide(action)).thread);
    expect(decided).to.deep.equal(['stopped', 'stopped', undefined, undefined, 'stopped', 'stopped']);
    const types = 'thread.stopped,thread.continued';
    const { events } = await dana.ok('listEvents', { params: { board }, query: { type: types } });
    expect(events.map(({ type }) => type)).to.deep.equal(['thread.stopped', 'thread.continued', 'thread.stopped']);
  });

  it('are held no longer where the last of those held is the last one that may go on', async () => {
    await setLimits({ notice: 1, hold: 2 });
    const [root] = (await runTo(4)) as [Message];
    const go = { params: { message: root.id }, body: { action: 'continue' as const } };
    expect(await dana.ok('setThreadRun', go)).to.not.have.property('thread');
    expect(await reply(codex, root)).to.include({ held: true });
  });

  it('go on for no more messages where a person stopped them in between', async () => {
    await setLimits({ notice: 1, hold: 2 });
    const [root] = (await runTo(7)) as [Message];
    const decide = (action: 'stop' | 'continue') =>
      dana.ok('setThreadRun', { params: { message: root.id }, body: { action } });
    expect((await decide('stop')).thread).to.equal('stopped');
    expect((await dana.ok('listNeeds', {})).needs.filter((need) => need.board === board)).to.deep.equal([]);
    expect((await decide('continue')).thread).to.equal('held');
    const { messages } = await dana.ok('listMessages', { params: { board } });
    expect(messages.map(({ held }) => held ?? false)).to.deep.equal([false, false, false, false, true, true, true]);
  });

  it('are continued and stopped by their people and owners of the board only', async () => {
    const [root] = (await runTo(2)) as [Message];
    const kim = await server.person('kim');
    await dana.ok('addBoardPerson', { params: { board }, body: { handle: 'kim' } });
    const call = { params: { message: root.id }, body: { action: 'stop' as const } };
    expect(await kim.refused('setThreadRun', call)).to.equal('403 agent_owner_required');
    expect(await codex.refused('setThreadRun', call)).to.equal('403 human_token_required');
    const stranger = await server.person('stranger');
    expect(await stranger.refused('setThreadRun', call)).to.equal('404 message_not_found');
    await pam.ok('setThreadRun', call);
    expect(await kim.refused('setThreadRun', { ...call, body: { action: 'pause' } as never })).to.equal(
      '400 invalid_request',
    );
  });

  it('start anew with a change of the task that the thread is about, five times in a row', async () => {
    const task = await dana.ok('createTask', { params: { board }, body: { title: 'Retry design' } });
    await claude.ok('startTask', { params: { board, task: task.ref } });
    const root = await post(claude, board, 'Retry design', { to: ['@codex'], about: [task.ref] });
    const stands = (text: string) =>
      claude.ok('updateTask', { params: { board, task: task.ref }, body: { stands: text } });
    const upToTen = async () => {
      let last = root;
      for (let n = 0; n < 10; n++) last = await reply(n % 2 === 0 ? codex : claude, root);
      return last.agent_run;
    };
    await stands('Begun');
    for (let n = 1; n <= 5; n++) {
      expect(await upToTen()).to.equal(10);
      if (n < 5) await stands(`Step ${n}`);
    }
    await stands('Busy');
    expect((await rootOf(root.id)).agent_run).to.equal(10);
    await reply(dana, root, 'Well done');
    expect(await upToTen()).to.equal(10);
    await stands('Counted again');
    expect((await rootOf(root.id)).agent_run).to.equal(undefined);
  });

  it('wake those that held posts are for when the task changes, but not where a person stopped the thread', async () => {
    await setLimits({ notice: 1, hold: 2 });
    const task = await dana.ok('createTask', { params: { board }, body: { title: 'Retry design' } });
    await claude.ok('startTask', { params: { board, task: task.ref } });
    const stands = (text: string) =>
      claude.ok('updateTask', { params: { board, task: task.ref }, body: { stands: text } });
    const begin = () => post(claude, board, 'Retry design', { to: ['@codex'], about: [task.ref] });
    const root = await begin();
    for (const from of [codex, claude]) await reply(from, root);
    await ackAll(codex);
    const waiting = waits(codex, 30);
    expect((await reply(claude, root, 'Shall I?')).held).to.equal(true);
    await stands('Half');
    expect((await waiting).messages.map(({ body }) => body)).to.deep.equal(['Shall I?']);
    expect(await heldIn(root)).to.deep.equal([false, false, false]);
    expect((await reply(codex, root)).held).to.equal(undefined);
    const stopped = await begin();
    for (const from of [codex, claude]) await reply(from, stopped);
    await dana.ok('setThreadRun', { params: { message: stopped.id }, body: { action: 'stop' } });
    await stands('Done');
    expect(await heldIn(stopped)).to.deep.equal([false, true]);
    await dana.ok('setThreadRun', { params: { message: stopped.id }, body: { action: 'continue' } });
    expect(await heldIn(stopped)).to.deep.equal([false, false]);
  });

  it('start anew with a new version of a file in the thread, not with the same one again', async () => {
    await setLimits({ notice: 2, hold: 3 });
    const [root] = (await runTo(3)) as [Message];
    await upload(claude);
    const cite = { files: [{ file: 'plan.md' }], reply_to: root.id };
    expect(await post(claude, board, 'See the plan', cite)).not.to.have.property('held');
    const next = [await reply(codex, root), await post(claude, board, 'Again', cite), await reply(codex, root)];
    expect(next.map(({ held }) => held ?? false)).to.deep.equal([false, false, false]);
    expect((await reply(claude, root)).held).to.equal(true);
    const again = await claude.ok('uploadFile', {
      params: { board },
      query: { name: 'plan.md', base: 1 },
      bytes: 'two',
    });
    await post(claude, board, 'Changed', { ...cite, files: [{ file: again.id }] });
    expect((await heldIn(root)).at(-2)).to.equal(false);
  });

  it('start anew with the approval of a file that is cited in the thread', async () => {
    await setLimits({ notice: 2, hold: 3 });
    const file = await upload(claude);
    const [root] = (await runTo(2)) as [Message];
    await post(claude, board, 'See the plan', { files: [{ file: 'plan.md' }], reply_to: root.id });
    for (let n = 0; n < 4; n++) await reply(codex, root);
    expect((await rootOf(root.id)).thread).to.equal('held');
    await dana.ok('approveFile', { params: { board, file: file.id }, body: { version: 1 } });
    expect((await rootOf(root.id)).thread).to.equal(undefined);
    expect((await reply(codex, root)).held).to.equal(undefined);
  });

  it('go on without end where the policy says off; limits that contradict themselves are refused', async () => {
    await setLimits('off');
    const said = await runTo(35);
    expect(said.filter(({ held, notice }) => held || notice)).to.deep.equal([]);
    for (const limits of [
      { notice: 5, hold: 5 },
      { notice: 0, hold: 5 },
      { notice: 1, hold: 1001 },
    ])
      expect(
        await dana.refused('updateBoard', { params: { board }, body: { policy: { agent_run: limits } } }),
      ).to.equal('400 invalid_request');
    const shown = await dana.ok('getBoard', { params: { board } });
    expect(shown.policy).to.deep.include({ agent_run: 'off', overrides: ['agent_run'] });
  });

  it('go on in a held thread once the policy says off, and are counted as before when it says a number again', async () => {
    await setLimits({ notice: 1, hold: 2 });
    const said = await runTo(3);
    await setLimits('off');
    const go = { params: { message: said[0]?.id ?? '' }, body: { action: 'continue' as const } };
    expect(await dana.ok('setThreadRun', go)).to.not.have.property('thread');
    const { messages } = await dana.ok('listMessages', { params: { board } });
    expect(messages.map(({ held }) => held ?? false)).to.deep.equal([false, false, false]);
    await setLimits({ notice: 1, hold: 2 });
    expect(await reply(claude, said[0] as Message)).to.include({ held: true });
  });

  it('go on for as many more as the policy allows also where it allowed more until they were held', async () => {
    await setLimits('off');
    const [root] = (await runTo(7)) as [Message];
    await setLimits({ notice: 1, hold: 2 });
    expect(await reply(claude, root)).to.include({ held: true });
    const go = { params: { message: root.id }, body: { action: 'continue' as const } };
    expect(await dana.ok('setThreadRun', go)).to.not.have.property('thread');
    expect(await reply(codex, root)).to.not.have.property('held');
    expect(await reply(claude, root)).to.include({ held: true });
  });

  it('are counted by two servers of one database as by one', async () => {
    const twin = engine === 'postgres' ? await startTwin(server) : null;
    try {
      await setLimits({ notice: 2, hold: 20 });
      const [root] = (await runTo(1)) as [Message];
      const there = (from: Agent) => new Api(twin?.url ?? server.url, from.token);
      const both = [claude, there(codex), there(claude), codex];
      const posts = Array.from({ length: 24 }, (_, n) => reply(both[n % both.length] as Api, root, `${n}`));
      const said = await Promise.all(posts);
      expect(said.filter(({ held }) => held)).to.have.length(5);
      expect((await rootOf(root.id)).agent_run).to.equal(25);
    } finally {
      await twin?.close();
    }
  });

  it('are a need in its own words where one agent wrote them all', async () => {
    await setLimits({ notice: 1, hold: 2 });
    const root = await post(claude, board, 'Progress');
    for (let n = 0; n < 2; n++) await post(claude, board, 'more', { reply_to: root.id, to: ['@codex'] });
    const { needs } = await dana.ok('listNeeds', {});
    expect(needs.filter((need) => need.board === board).map(({ text }) => text)).to.deep.equal([
      'claude has posted 3 messages on "Progress" without a person',
    ]);
  });

  it('never brake a person, and are one need of the people of the agents', async () => {
    const kim = await server.person('kim2');
    await dana.ok('addBoardPerson', { params: { board }, body: { handle: 'kim2' } });
    const said = await runTo(31);
    const text = `claude and codex have exchanged 31 messages on "Retry design" without a person`;
    for (const person of [dana, pam]) {
      const { needs } = await person.ok('listNeeds', {});
      expect(needs.filter((need) => need.board === board)).to.deep.equal([
        {
          kind: 'thread_held',
          id: said[0]?.id,
          at: said[30]?.at,
          board,
          board_id: boardId,
          text,
          message_id: said[0]?.id,
          seq: said[0]?.seq,
          agent_run: 31,
          agents: ['claude', 'codex'],
        },
      ]);
    }
    expect((await kim.ok('listNeeds', {})).needs).to.deep.equal([]);
    await ackAll(codex);
    const waiting = waits(codex, 30);
    await reply(dana, said[0] as Message, 'Use the queue');
    expect((await waiting).messages.map(({ body }) => body)).to.deep.equal(['Use the queue']);
    expect((await pam.ok('listNeeds', {})).needs.filter((need) => need.board === board)).to.deep.equal([]);
    expect(await bodies(claude)).to.have.length(16);
  });
});
