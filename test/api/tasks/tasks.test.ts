import { expect } from 'chai';
import type { Answer } from '../../../src/contract/types.ts';
import { Api, detailsOf } from '../../support/api.ts';
import { type Agent, newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { changeBoard, setRoles } from '../../support/state.ts';

let boards = 0;
/** Names whose letters differ, so that each board begins with a prefix of its own. */
const boardName = () =>
  `${String.fromCharCode(97 + (boards % 26))}${String.fromCharCode(97 + ((boards++ / 26) % 26))}q-tasks`;

forEachDatabase('a task', (engine) => {
  let server: TestServer;
  let board: string;
  let prefix: string;
  let pam: Api;
  let a: Agent;
  let b: Agent;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
  });
  beforeEach(async () => {
    board = (await newBoard(server.dana, { name: `${boardName()}-${engine}` })).name;
    await server.dana.ok('addBoardPerson', { params: { board }, body: { handle: 'pam' } });
    a = await newAgent(server.dana, board, { name: 'a' });
    b = await newAgent(pam, board, { name: 'b' });
    prefix = (await open(server.dana, 'the first')).ref.split('-')[0] ?? '';
  });
  after(() => server.stop());

  const open = (by: Api, title: string, more = {}) =>
    by.ok('createTask', { params: { board }, body: { title, ...more } });
  const on = (task: string | number, body?: unknown) => ({ params: { board, task }, ...(body ? { body } : {}) });
  const events = async () => (await pam.ok('listEvents', { params: { board }, query: { limit: 200 } })).events;
  const taskEvents = async () =>
    (await events())
      .filter((event) => event.type.startsWith('task.'))
      .map(({ type, data }): Record<string, unknown> => ({ type, ...data }));

  it('gets a number, a reference for good, and a record of its opening', async () => {
    const task = await open(a, '  Cap the backoff  ', { about: 'Why: **retries**' });
    expect(task).to.deep.include({
      ref: `${prefix}-2`,
      number: 2,
      board,
      title: 'Cap the backoff',
      state: 'open',
      owner: null,
      with: [],
      blocked: false,
      stands: null,
      message_count: 0,
      closed_at: null,
    });
    expect(task.about).to.deep.include({ text: 'Why: **retries**', version: 1 });
    expect([task.opened_by.name, task.about?.by.name]).to.deep.equal(['a', 'a']);
    for (const name of [task.ref, task.ref.toLowerCase(), 2, task.id]) {
      expect((await b.ok('getTask', on(name))).id).to.equal(task.id);
    }
    const [first] = (await events()).filter((event) => event.type === 'board.task_prefix_set');
    expect(first?.data).to.deep.equal({ before: null, after: prefix });
    expect((await taskEvents()).at(-1)).to.deep.equal({
      type: 'task.created',
      task_id: task.id,
      ref: task.ref,
      number: 2,
      title: 'Cap the backoff',
      about: 'Why: **retries**',
    });
  });

  it('keeps its reference when the prefix changes, and nobody else may ever take the old one', async () => {
    const fresh = `Z${engine === 'sqlite' ? 'S' : 'P'}${boards}`;
    await server.dana.ok('updateBoard', { params: { board }, body: { task_prefix: fresh } });
    expect((await open(a, 'next')).ref).to.equal(`${fresh}-2`);
    expect((await a.ok('getTask', on(`${prefix}-1`))).number).to.equal(1);
    const other = await newBoard(server.dana);
    expect(
      await server.dana.refused('updateBoard', { params: { board: other.name }, body: { task_prefix: prefix } }),
    ).to.equal('409 task_prefix_taken');
  });

  it('takes the next free default prefix, also when two boards begin at once', async () => {
    const names = ['twin-one', 'twin-two', 'twin-three'].map((name) => `${name}-${engine}`);
    for (const name of names) await newBoard(server.dana, { name });
    const tasks = await Promise.all(
      names.map((name) => server.dana.ok('createTask', { params: { board: name }, body: { title: 'x' } })),
    );
    expect(tasks.map((task) => task.ref)).to.have.members(['TWI-1', 'TWI2-1', 'TWI3-1']);
  });

  it('has one winner of many who start it, through two processes', async () => {
    const twin = engine === 'postgres' ? await startTwin(server) : null;
    const agents = await Promise.all(Array.from({ length: 8 }, () => newAgent(server.dana, board)));
    const callers = [...agents, a, b, pam, server.dana].map((each, n) =>
      twin && n % 2 === 1 ? new Api(twin.url, each.token) : each,
    );
    const task = await open(server.dana, 'one winner');
    const answers = await Promise.all(callers.map((caller) => caller.call('startTask', on(task.ref))));
    const won = answers.filter((answer) => answer.status === 200);
    expect(won).to.have.length(1);
    const owner = won[0]?.body.owner;
    for (const answer of answers.filter((each) => each.status !== 200)) {
      expect(`${answer.status} ${answer.code}`).to.equal('409 task_taken');
      const { details } = (answer.body as unknown as { error: { details: { owner: unknown } } }).error;
      expect(details.owner).to.deep.equal(owner);
    }
    expect((await taskEvents()).filter((event) => event.type === 'task.started')).to.have.length(1);
    await twin?.close();
  });

  it('is selected again with an event only when the agent was on another one', async () => {
    const one = await open(a, 'one', { start: true });
    const two = await open(a, 'two', { start: true });
    expect((await a.ok('getMe')).current_task?.id).to.equal(two.id);
    await a.ok('startTask', on(one.ref));
    await a.ok('startTask', on(one.ref));
    expect((await a.ok('getMe')).current_task?.id).to.equal(one.id);
    const started = (await taskEvents()).filter((event) => event.type === 'task.started');
    expect(started.map((event) => [event['ref'], event['reselected']])).to.deep.equal([
      [one.ref, undefined],
      [two.ref, undefined],
      [one.ref, true],
    ]);
    const own = await open(pam, 'of a person', { start: true });
    const head = (await events()).length;
    await pam.ok('startTask', on(own.ref));
    expect((await events()).length).to.equal(head);
  });

  it('is joined again with an event only by an agent that was on another one', async () => {
    const own = await open(a, 'own', { start: true });
    const other = await open(pam, 'other', { start: true });
    const named = (task: Answer<'getTask'>) => [task.owner?.name, task.with.map(({ name }) => name)];
    for (const task of [other, own, own, other, other]) await a.ok('joinTask', on(task.ref));
    expect(named(await a.ok('getTask', on(own.ref)))).to.deep.equal(['a', []]);
    expect(named(await pam.ok('joinTask', on(other.ref)))).to.deep.equal(['pam', ['a']]);
    expect(named(await server.dana.ok('joinTask', on(other.ref)))).to.deep.equal(['pam', ['a', 'root']]);
    expect(named(await server.dana.ok('joinTask', on(other.ref)))).to.deep.equal(['pam', ['a', 'root']]);
    const joined = (await taskEvents()).filter((event) => event['type'] === 'task.joined');
    expect(joined.map((event) => [event['ref'], event['reselected']])).to.deep.equal([
      [other.ref, undefined],
      [own.ref, true],
      [other.ref, true],
      [other.ref, undefined],
    ]);
    const { members } = await pam.ok('listMembers', { params: { board } });
    const lines = members.flatMap(({ name, line }) => (line ? [[name, line.text]] : []));
    expect(lines).to.deep.equal([['a', 'other']]);
    const posted = await server.dana.ok('postMessage', { params: { board }, body: { body: 'done' } });
    expect(posted.about).to.deep.equal([]);
  });

  it('may be helped with: notes yes, title and closing no', async () => {
    const task = await open(pam, 'shared');
    await a.ok('startTask', on(task.ref));
    const joined = await b.ok('joinTask', on(task.ref));
    expect([joined.owner?.name, joined.with.map((member) => member.name)]).to.deep.equal(['a', ['b']]);
    expect((await b.ok('updateTask', on(task.ref, { stands: 'half done' }))).stands).to.deep.include({
      text: 'half done',
      version: 1,
      messages_since: 0,
    });
    expect(await b.refused('updateTask', on(task.ref, { title: 'x' }))).to.equal('403 not_on_task');
    expect(await b.refused('updateTask', on(task.ref, { title: 'x', stands: 'y' }))).to.equal('403 not_on_task');
    expect(await b.refused('finishTask', on(task.ref, { note: 'x' }))).to.equal('403 not_on_task');
    const refused = await b.call('dropTask', on(task.ref, { member: 'a' }));
    expect(refused.code).to.equal('not_on_task');
    expect(detailsOf(refused)).to.deep.equal({ ref: task.ref, owner: joined.owner, with: joined.with });
    expect((await a.ok('updateTask', on(task.ref, { title: 'mine' }))).title).to.equal('mine');
    expect((await pam.ok('updateTask', on(task.ref, { about: 'people may' }))).about?.text).to.equal('people may');
    const taken = await b.call('startTask', on(task.ref));
    expect(taken.code).to.equal('task_taken');
  });

  it('says to an agent without the part that a change needs who may make it, and what to do instead', async () => {
    const { ref } = await open(pam, 'shared');
    const said = async (from: Api, ...call: Parameters<Api['call']>) => {
      const { code, body } = await from.call(...call);
      const { message, hint } = (body as unknown as { error: { message: string; hint: string } }).error;
      return [code, message, hint];
    };
    const take = `Take it first: service task start ${ref}.`;
    const toOwner = 'Tell @a: service say --to @a "…".';
    const closing = `Only its owner and people close ${ref}.`;
    const describing = `Only its owner, its opener and people change the title and description of ${ref}.`;
    expect(await said(b, 'finishTask', on(ref, { note: 'x' }))).to.deep.equal(['not_on_task', closing, take]);
    expect(await said(b, 'updateTask', on(ref, { title: 'x' }))).to.deep.equal(['not_on_task', describing, take]);
    await a.ok('startTask', on(ref));
    await b.ok('joinTask', on(ref));
    expect(await said(b, 'finishTask', on(ref, { note: 'x' }))).to.deep.equal(['not_on_task', closing, toOwner]);
    expect(await said(b, 'updateTask', on(ref, { about: 'x' }))).to.deep.equal(['not_on_task', describing, toOwner]);
    expect(await said(b, 'dropTask', on(ref, { member: 'a' }))).to.deep.equal([
      'not_on_task',
      `Only people end the part of another in ${ref}.`,
      'Ask your person: service ask "…".',
    ]);
    await b.ok('dropTask', on(ref));
    const who = `Who has one: service task show ${ref}.`;
    expect(await said(b, 'dropTask', on(ref))).to.deep.equal(['not_on_task', `You have no part in ${ref}.`, who]);
    expect(await said(pam, 'dropTask', on(ref, { member: 'b' }))).to.deep.equal([
      'not_on_task',
      `@b has no part in ${ref}.`,
      who,
    ]);
    expect(await said(b, 'updateTask', on(ref, { stands: 'x' }))).to.deep.equal([
      'not_on_task',
      `This needs a part in ${ref}.`,
      `Join first: service task join ${ref}.`,
    ]);
  });

  it('moves a helper to owner when they start it', async () => {
    const task = await open(pam, 'x');
    await b.ok('joinTask', on(task.ref));
    expect((await b.ok('getTask', on(task.ref))).state).to.equal('open');
    const started = await b.ok('startTask', on(task.ref));
    expect([started.owner?.name, started.with]).to.deep.equal(['b', []]);
  });

  it('refuses a note on a stale base and records nothing', async () => {
    const task = await open(pam, 'x');
    await pam.ok('updateTask', on(task.ref, { stands: 'one', stands_base: 0 }));
    await pam.ok('updateTask', on(task.ref, { stands: 'two', stands_base: 1 }));
    const head = (await events()).length;
    const stale = await pam.call('updateTask', on(task.ref, { stands: 'three', stands_base: 1 }));
    expect([stale.status, stale.code]).to.deep.equal([409, 'stands_changed']);
    const { details } = (stale.body as unknown as { error: { details: Record<string, unknown> } }).error;
    const { stands } = await a.ok('getTask', on(task.ref));
    expect(details).to.deep.equal({ ref: task.ref, version: 2, by: stands?.by, at: stands?.at });
    await pam.ok('updateTask', on(task.ref, { stands: 'two', stands_base: 2 }));
    expect((await events()).length).to.equal(head);
    const { versions, next_after } = await a.ok('listTaskTexts', { ...on(task.ref), query: { limit: 1 } });
    expect(versions.map((version) => version.text)).to.deep.equal(['two']);
    const rest = await a.ok('listTaskTexts', { ...on(task.ref), query: { limit: 1, after: next_after ?? '' } });
    expect([rest.versions[0]?.text, rest.next_after]).to.deep.equal(['one', null]);
  });

  it('is closed once, and then nothing changes it', async () => {
    const task = await open(pam, 'x');
    await a.ok('startTask', on(task.ref));
    await b.ok('joinTask', on(task.ref));
    const answers = await Promise.all([
      a.call('finishTask', on(task.ref, { note: 'done it' })),
      pam.call('finishTask', on(task.ref, { note: 'no need', cancelled: true })),
    ]);
    expect(answers.map((answer) => answer.status).sort()).to.deep.equal([200, 409]);
    const closed = await b.ok('getTask', on(task.ref));
    expect(closed.state).to.be.oneOf(['done', 'cancelled']);
    expect([closed.owner?.name, closed.with.length]).to.deep.equal(['a', 1]);
    for (const [name, body] of [
      ['startTask', undefined],
      ['joinTask', undefined],
      ['dropTask', {}],
      ['updateTask', { stands: 'x' }],
      ['finishTask', { note: 'x' }],
    ] as const) {
      expect(await pam.refused(name, on(task.ref, body)), name).to.equal('409 task_closed');
    }
    expect((await a.ok('getMe')).current_task).to.equal(null);
    expect((await b.ok('getMe')).current_task).to.equal(null);
  });

  it('is open again when its owner drops it, and its helpers stay', async () => {
    const task = await open(a, 'x', { start: true });
    await b.ok('joinTask', on(task.ref));
    const dropped = await a.ok('dropTask', on(task.ref, { reason: 'stuck' }));
    expect([dropped.state, dropped.owner, dropped.with.length]).to.deep.equal(['open', null, 1]);
    expect((await pam.ok('dropTask', on(task.ref, { member: 'b' }))).with).to.deep.equal([]);
    expect(await pam.refused('dropTask', on(task.ref, { member: 'b' }))).to.equal('403 not_on_task');
    expect(await pam.refused('dropTask', on(task.ref, { member: 'nobody' }))).to.equal('404 member_not_found');
    const drops = (await taskEvents()).filter((event) => event.type === 'task.dropped');
    expect(drops.map(({ as, by, reason }) => ({ as, by, reason }))).to.deep.equal([
      { as: 'owner', by: 'self', reason: 'stuck' },
      { as: 'helper', by: 'person', reason: null },
    ]);
  });

  it('loses the parts of a seat that ends, in the same transaction', async () => {
    const one = await open(a, 'one', { start: true });
    const two = await open(pam, 'two');
    await b.ok('startTask', on(two.ref));
    await a.ok('joinTask', on(two.ref));
    await a.ok('leaveSeat');
    const [left, ...rest] = (await events()).slice(-3);
    expect(left?.type).to.equal('agent.left');
    expect(
      rest.map((event) => [event.type, event.data?.['ref'], event.data?.['as'], event.data?.['by']]),
    ).to.deep.equal([
      ['task.dropped', one.ref, 'owner', 'seat_ended'],
      ['task.dropped', two.ref, 'helper', 'seat_ended'],
    ]);
    expect(await pam.ok('getTask', on(one.ref))).to.deep.include({ state: 'open', owner: null });
    expect((await pam.ok('getTask', on(two.ref))).with).to.deep.equal([]);
  });

  it('needs the grants of a role, and an active board', async () => {
    const task = await open(pam, 'x');
    await setRoles(server, board, { member: { can: ['post'] } });
    expect(await a.refused('createTask', { params: { board }, body: { title: 'x' } })).to.equal('403 forbidden');
    expect(await a.refused('startTask', on(task.ref))).to.equal('403 forbidden');
    expect(await a.refused('joinTask', on(task.ref))).to.equal('403 forbidden');
    await setRoles(server, board, { member: { can: ['create_tasks', { claim_tasks: ['docs'] }] } });
    expect((await open(a, 'now', { start: true })).owner?.name).to.equal('a');
    await changeBoard(server, board, { lifecycle: 'archived' });
    expect(await pam.refused('startTask', on(task.ref))).to.equal('409 board_archived');
    expect((await pam.ok('getTask', on(task.ref))).ref).to.equal(task.ref);
  });

  it('keeps a title that was given under an older rule, and mixes alphabets as science does', async () => {
    const task = await open(pam, 'Measure Δt in µs on π-day');
    const title = 'old\u200btitle';
    await server.db.write((tx) => tx.change((db) => db('tasks').where('id', task.id).update({ title })));
    await pam.ok('updateTask', on(task.ref, { stands: 'measured' }));
    expect((await pam.ok('getTask', on(task.ref))).title).to.equal(title);
    expect((await pam.ok('startTask', on(task.ref))).title).to.equal(title);
  });

  it('refuses what no task can be', async () => {
    for (const title of ['', '   ', 'a\nb', 'a\u2028b', 'a\u200bb', 'a\u{e0041}', 'x'.repeat(121)]) {
      expect(await pam.refused('createTask', { params: { board }, body: { title } }), title).to.equal(
        '400 invalid_request',
      );
    }
    expect((await open(pam, 'é'.repeat(120))).title).to.have.length(120);
    for (const body of [
      {},
      { stands_base: 1 },
      { stands: '  ' },
      { stands: 'x'.repeat(2001) },
      { about: 'x'.repeat(4001) },
    ]) {
      expect(await pam.refused('updateTask', on(`${prefix}-1`, body))).to.equal('400 invalid_request');
    }
    for (const task of ['0', 'nonsense', 'CHK-0', 'tsk_1', '1234567890']) {
      expect(await pam.refused('getTask', on(task)), task).to.equal('400 invalid_request');
    }
    expect(await pam.refused('getTask', on('ZZZ-1'))).to.equal('404 task_not_found');
    const other = await newBoard(server.dana);
    const elsewhere = await server.dana.ok('createTask', { params: { board: other.name }, body: { title: 'x' } });
    for (const name of [elsewhere.ref, elsewhere.id]) {
      expect(await pam.refused('getTask', on(name))).to.equal('404 task_not_found');
    }
  });

  it('holds no secret that was written into it', async () => {
    const secret = `ghp_${'A1b2'.repeat(9)}`;
    const task = await open(pam, `token ${secret}`, { about: secret });
    await pam.ok('updateTask', on(task.ref, { stands: secret }));
    await pam.ok('finishTask', on(task.ref, { note: secret }));
    const shown = JSON.stringify([await pam.ok('getTask', on(task.ref)), await events()]);
    expect(shown).to.include('[redacted:github_token]').and.not.include(secret);
  });

  it('is listed by group and number, page by page, with counts of the whole board', async () => {
    const two = await open(a, 'two', { start: true });
    const three = await open(b, 'three', { start: true });
    await open(pam, 'four');
    await pam.ok('finishTask', on(three.ref, { note: 'x' }));
    const list = async (query: Record<string, string | number | boolean> = {}) =>
      (await pam.ok('listTasks', { params: { board }, query })).tasks.map((task) => task.number);
    expect(await list()).to.deep.equal([1, 4, 2]);
    expect(await list({ order: 'desc' })).to.deep.equal([4, 1, 2]);
    expect(await list({ state: 'all' })).to.deep.equal([1, 4, 2, 3]);
    expect(await list({ state: 'done' })).to.deep.equal([3]);
    expect(await list({ owner: 'a' })).to.deep.equal([2]);
    expect(await list({ state: 'all', owner: 'b' })).to.deep.equal([3]);
    expect(await list({ blocked: true })).to.deep.equal([]);
    expect(
      (await a.ok('listTasks', { params: { board }, query: { mine: true } })).tasks.map((t) => t.ref),
    ).to.deep.equal([two.ref]);
    const { counts } = await pam.ok('listTasks', { params: { board }, query: { state: 'done' } });
    expect(counts).to.deep.equal({ open: 2, in_progress: 1, done: 1, cancelled: 0, blocked: 0 });
    for (const order of ['asc', 'desc']) {
      const seen: number[] = [];
      for (let after: string | null = ''; after !== null; ) {
        const query: Record<string, string | number> = {
          state: 'all',
          order,
          limit: 1,
          ...(after === '' ? {} : { after }),
        };
        const page: Answer<'listTasks'> = await pam.ok('listTasks', { params: { board }, query });
        seen.push(...page.tasks.map((task) => task.number));
        after = page.next_after;
        if (after !== null) {
          expect(
            await pam.refused('listTasks', { params: { board }, query: { ...query, state: 'done', after } }),
          ).to.equal('400 invalid_request');
        }
      }
      expect(seen).to.deep.equal(await list({ state: 'all', order }));
    }
    expect(await pam.refused('listTasks', { params: { board }, query: { owner: 'nobody' } })).to.equal(
      '404 member_not_found',
    );
    const { next_after } = await server.dana.ok('listTasks', { params: { board }, query: { limit: 1 } });
    const elsewhere = { board: (await newBoard(server.dana)).name };
    const foreign = { params: elsewhere, query: { limit: 1, after: next_after ?? '' } };
    expect(await server.dana.refused('listTasks', foreign)).to.equal('400 invalid_request');
  });

  it('is listed over all active boards a person is on, and for an agent on its own', async () => {
    const other = (await newBoard(pam)).name;
    await pam.ok('createTask', { params: { board: other }, body: { title: 'elsewhere' } });
    const mine = (await pam.ok('listAllTasks', { query: { limit: 200 } })).tasks.map((task) => task.board);
    expect(mine).to.include(other).and.include(board);
    expect(new Set((await b.ok('listAllTasks')).tasks.map((task) => task.board))).to.deep.equal(new Set([board]));
    await changeBoard(server, other, { lifecycle: 'archived' });
    expect((await pam.ok('listAllTasks', { query: { limit: 200 } })).tasks.map((task) => task.board)).not.to.include(
      other,
    );
    expect((await pam.ok('listAllTasks', { query: { board: other } })).tasks).to.have.length(1);
    expect(await pam.refused('listAllTasks', { query: { board: 'never-there' } })).to.equal('404 board_not_found');
  });

  it('is listed over all boards by the name of its owner on each', async () => {
    const places = [];
    for (const _ of [1, 2, 3]) places.push((await newBoard(pam)).name);
    const owned: string[] = [];
    for (const place of places.slice(0, 2)) {
      await pam.ok('createTask', { params: { board: place }, body: { title: 'of nobody' } });
      const agent = await newAgent(pam, place, { name: 'lena' });
      owned.push((await agent.ok('createTask', { params: { board: place }, body: { title: 'hers', start: true } })).id);
    }
    const found = await pam.ok('listAllTasks', { query: { owner: 'lena' } });
    expect(found.tasks.map(({ id }) => id)).to.have.members(owned);
    expect(await pam.refused('listAllTasks', { query: { owner: 'nobody' } })).to.equal('404 member_not_found');
    expect(await pam.refused('listAllTasks', { query: { owner: 'lena', board: places[2]! } })).to.equal(
      '404 member_not_found',
    );
  });
});
