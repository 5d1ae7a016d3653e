/** Tasks that their owners left, and how others get them. */
import { expect } from 'chai';
import type { Task } from '../../../src/contract/types.ts';
import { Api, detailsOf } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { putOnBoard, setRoles } from '../../support/state.ts';

const MINUTE = 60_000;

forEachDatabase('work that its owner left', (engine) => {
  let server: TestServer;
  let pam: Api;
  let tom: Api;
  let board: string;
  let claude: Agent;
  let codex: Agent;
  let task: Task;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
    tom = await server.person('tom');
  });
  beforeEach(async () => {
    board = (await newBoard(server.dana)).name;
    await putOnBoard(server, board, pam);
    await putOnBoard(server, board, tom);
    claude = await newAgent(pam, board, { name: 'claude' });
    codex = await newAgent(tom, board, { name: 'codex' });
    task = await claude.ok('createTask', { params: { board }, body: { title: 'Cap the backoff', start: true } });
  });
  after(() => server.stop());

  const on = (body: object = {}) => ({ params: { board, task: task.ref }, body });
  const shown = (by: Api = codex): Promise<Task> => by.ok('getTask', { params: { board, task: task.ref } });
  const isStale = async (): Promise<boolean> => (await shown()).stale_since !== undefined;
  const report = (by: Api, presence: string) => by.call('setPresence', { body: { presence } });
  const takeOver = (by: Api) => by.call('startTask', on({ take_over: true }));
  const taskEvents = async () =>
    (await pam.ok('listEvents', { params: { board }, query: { limit: 200 } })).events.filter(({ type }) =>
      type.startsWith('task.'),
    );

  it('a task is stale when its owner is gone for the time of the policy, and not before', async () => {
    await report(claude, 'working');
    server.clock.advance(29 * MINUTE);
    expect(await isStale()).to.equal(false);
    server.clock.advance(MINUTE);
    const { stale_since } = await shown();
    expect(Math.abs(Date.parse(stale_since ?? '') - server.clock.now())).to.be.below(5_000);
    expect((await shown(claude)).stale_since).to.equal(stale_since);
    const { tasks } = await codex.ok('listTasks', { params: { board } });
    expect(tasks.map((each) => each.stale_since)).to.deep.equal([stale_since]);

    await report(claude, 'idle');
    expect(await isStale()).to.equal(false);
    server.clock.advance(2 * MINUTE);
    await report(claude, 'no_session');
    server.clock.advance(29 * MINUTE);
    expect(await isStale()).to.equal(false);
    server.clock.advance(MINUTE);
    expect(await isStale()).to.equal(true);
  });

  it('what its owner or the owner’s person writes to it puts that off; what others write does not', async () => {
    await codex.ok('joinTask', on());
    const about = { about: [task.ref] };
    const writes: [string, boolean, () => Promise<unknown>][] = [
      ['its owner', true, () => claude.ok('updateTask', on({ stands: 'Half done.' }))],
      ['its person', true, () => pam.ok('updateTask', on({ title: 'Cap every wait' }))],
      ['its owner in a message', true, () => post(claude, board, 'Soon.', about)],
      ['its person in a message', true, () => post(pam, board, 'It is away until noon.', about)],
      ['a helper', false, () => codex.ok('updateTask', on({ stands: 'Looked at it.' }))],
      ['a helper in a message', false, () => post(codex, board, 'Is somebody there?', about)],
      ['another person', false, () => tom.ok('updateTask', on({ about: 'Retries pile up.' }))],
      ['another agent of its person', false, async () => post(await newAgent(pam, board), board, 'Hm.', about)],
    ];
    for (const [who, counts, write] of writes) {
      server.clock.advance(31 * MINUTE);
      expect(await isStale(), `before ${who}`).to.equal(true);
      await write();
      expect(await isStale(), who).to.equal(!counts);
    }
  });

  it('a policy sets the time, or that no task is ever stale; tasks of people never are', async () => {
    const set = (stale_after: unknown) =>
      server.dana.call('updateBoard', { params: { board }, body: { policy: { stale_after } } });
    for (const wrong of [299, 604_801, 'never', 300.5]) {
      const refused = await set(wrong);
      expect(refused.code).to.equal('invalid_request');
      expect(detailsOf(refused)).to.include({ field: 'policy.stale_after' });
    }
    expect((await set(300)).body.policy).to.deep.include({ stale_after: 300, overrides: ['stale_after'] });
    server.clock.advance(5 * MINUTE);
    expect(await isStale()).to.equal(true);
    await set('off');
    server.clock.advance(7 * 24 * 60 * MINUTE);
    expect(await isStale()).to.equal(false);
    expect((await takeOver(codex)).code).to.equal('task_taken');
    await set(300);
    const own = await tom.ok('createTask', { params: { board }, body: { title: 'mine', start: true } });
    server.clock.advance(60 * MINUTE);
    expect((await tom.ok('getTask', { params: { board, task: own.ref } })).stale_since).to.equal(undefined);
  });

  it('task owner killed: stale after the policy’s time, take-over by another, a late done gets 409 with the new owner', async () => {
    await report(claude, 'working');
    const ownership = task.ownership ?? '';
    expect((await shown()).ownership).to.equal(undefined);
    await pam.ok('joinTask', on());
    expect((await takeOver(codex)).code).to.equal('task_taken');
    server.clock.advance(30 * MINUTE);
    const plain = await codex.call('startTask', on());
    expect(plain.code).to.equal('task_taken');
    expect(plain.body).to.have.nested.property('error.hint').that.includes(`task start ${task.ref} --take-over`);

    const taken = await codex.ok('startTask', on({ take_over: true }));
    expect([taken.state, taken.owner?.name, taken.with.map(({ name }) => name)]).to.deep.equal([
      'in_progress',
      'codex',
      ['pam', 'claude'],
    ]);
    expect(taken.stale_since).to.equal(undefined);
    expect(taken.ownership).to.be.a('string').and.not.equal(ownership);
    const last = (await taskEvents()).at(-1);
    expect([last?.type, last?.actor?.name]).to.deep.equal(['task.taken_over', 'codex']);
    expect(last?.data).to.deep.equal({
      task_id: task.id,
      ref: task.ref,
      from: claude.memberId,
      to: codex.memberId,
    });
    expect((await codex.ok('getMe')).current_task?.id).to.equal(task.id);
    expect((await codex.ok('readInbox')).work.line).to.include({ kind: 'working', text: 'Cap the backoff' });

    for (const late of [
      await claude.call('finishTask', on({ note: 'Done.', ownership })),
      await claude.call('updateTask', on({ stands: 'Done.', ownership })),
      await claude.call('dropTask', on({ ownership })),
    ]) {
      expect(`${late.status} ${late.code}`).to.equal('409 task_taken');
      expect(detailsOf(late)).to.deep.equal({ ref: task.ref, owner: taken.owner });
    }
    const { notices } = await claude.ok('listNotices');
    expect(notices.map(({ kind, text, task: about, next }) => [kind, text, about, next.command])).to.deep.equal([
      [
        'task_taken_over',
        `@codex took over ${task.ref} on ${board} from you; you help with it now.`,
        { id: task.id, ref: task.ref },
        `service task show ${task.ref} --board ${board} --server '${server.url}'`,
      ],
    ]);
    expect((await claude.ok('updateTask', on({ stands: 'The cap works.' }))).stands?.version).to.equal(1);
    expect((await codex.ok('finishTask', on({ note: 'Done.', ownership: taken.ownership }))).state).to.equal('done');
  });

  it('a task whose owner is gone counts once under Needs you of its person and of the board’s owners', async () => {
    await report(claude, 'working');
    const needsOf = async (person: Api) => {
      const { needs, changes_at } = await person.ok('listNeeds');
      return { needs: needs.filter((need) => need.board === board), changes_at };
    };
    server.clock.advance(29 * MINUTE);
    const before = await needsOf(pam);
    expect(before.needs).to.deep.equal([]);
    expect(Date.parse(before.changes_at ?? '') - server.clock.now()).to.be.within(1, MINUTE);
    server.clock.advance(MINUTE);
    const { stale_since } = await shown();
    const { needs } = await needsOf(pam);
    expect(needs).to.have.length(1);
    expect(needs[0]).to.deep.include({
      kind: 'task_stale',
      id: task.id,
      at: stale_since,
      board,
      text: `claude is gone and has ${task.ref} in progress: "Cap the backoff"`,
      task: { id: task.id, ref: task.ref, title: task.title },
      agent: 'claude',
      member_id: claude.memberId,
    });
    expect((await needsOf(server.dana)).needs).to.deep.equal(needs);
    expect((await needsOf(tom)).needs).to.deep.equal([]);
    await takeOver(codex);
    expect((await needsOf(pam)).needs).to.deep.equal([]);
  });

  it('32 take-overs at once: one winner', async () => {
    const twin = engine === 'postgres' ? await startTwin(server) : null;
    const agents = await Promise.all(Array.from({ length: 32 }, () => newAgent(server.dana, board)));
    server.clock.advance(31 * MINUTE);
    const callers = agents.map((each, n) => (twin && n % 2 === 1 ? new Api(twin.url, each.token) : each));
    const answers = await Promise.all(callers.map(takeOver));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).to.have.length(1);
    for (const { status, code } of answers.filter((each) => each.status !== 200))
      expect(`${status} ${code}`).to.equal('409 task_taken');
    expect((await taskEvents()).filter(({ type }) => type === 'task.taken_over')).to.have.length(1);
    expect((await shown()).with.map(({ name }) => name)).to.deep.equal(['claude']);
    await twin?.close();
  });

  it('the owner’s person and a board owner take over any task; others only what is stale, and as their role allows', async () => {
    await report(claude, 'working');
    for (const other of [tom, codex, await newAgent(pam, board)])
      expect((await takeOver(other)).code).to.equal('task_taken');
    expect((await pam.ok('startTask', on({ take_over: true }))).owner?.name).to.equal('pam');
    expect((await takeOver(tom)).code).to.equal('task_taken');
    const taken = await server.dana.ok('startTask', on({ take_over: true }));
    expect([taken.owner?.name, taken.with.map(({ name }) => name)]).to.deep.equal(['root', ['claude', 'pam']]);
    expect((await claude.ok('listNotices')).notices).to.have.length(1);

    await setRoles(server, board, { member: { can: ['post'] } });
    const other = await newAgent(tom, board);
    const mine = await server.dana.ok('createTask', { params: { board }, body: { title: 'free' } });
    const refused = await other.call('startTask', {
      params: { board, task: mine.ref },
      body: { take_over: true },
    });
    expect(refused.code).to.equal('forbidden');
  });

  it('a take-over of a free or own task is a start, and an old ownership says who has it now, or that nobody has', async () => {
    const again = await claude.ok('startTask', on({ take_over: true }));
    expect(again.ownership).to.equal(task.ownership);
    await pam.ok('dropTask', on({ member: 'claude' }));
    const late = await claude.call('updateTask', on({ stands: 'x', ownership: task.ownership }));
    expect([late.code, detailsOf(late)]).to.deep.equal(['task_taken', { ref: task.ref, owner: null }]);
    const back = await claude.ok('startTask', on({ take_over: true }));
    expect(back.ownership).to.not.equal(task.ownership);
    expect((await claude.call('finishTask', on({ note: 'x', ownership: task.ownership }))).code).to.equal('task_taken');
    const types = (await taskEvents()).map(({ type }) => type);
    expect(types).to.not.include('task.taken_over');
    await claude.ok('finishTask', on({ note: 'x', ownership: back.ownership }));
    expect((await takeOver(pam)).code).to.equal('task_closed');
    expect((await shown(claude)).ownership).to.equal(undefined);
  });

  it('a client that knows nothing of this starts, writes and ends a task as ever', async () => {
    const open = await pam.ok('createTask', { params: { board }, body: { title: 'plain' } });
    const params = { board, task: open.ref };
    expect((await codex.ok('startTask', { params })).owner?.name).to.equal('codex');
    await codex.ok('updateTask', { params, body: { stands: 'Half done.' } });
    await codex.ok('dropTask', { params });
    await codex.ok('startTask', { params, body: {} });
    expect((await codex.ok('finishTask', { params, body: { note: 'Done.' } })).state).to.equal('done');
  });
});
