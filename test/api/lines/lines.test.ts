import { expect } from 'chai';
import type { Member } from '../../../src/contract/types.ts';
import { LINES_EVERY_MS } from '../../../src/server/upkeep/sweep-lines.ts';
import { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, newDelegation } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { isoForms } from '../../support/iso-forms.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { endMember, newBrowser, putOnBoard } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';
import { until } from '../../support/until.ts';

const DAY = 86_400_000;

forEachDatabase('what an agent is on', (engine) => {
  let server: TestServer;
  let pam: Api;
  let board: string;
  let boardId: string;
  let agent: Agent;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
  });
  beforeEach(async () => {
    const made = await newBoard(server.dana);
    [board, boardId] = [made.name, made.id];
    await putOnBoard(server, board, pam);
    agent = await newAgent(pam, board);
  });
  after(() => server.stop());

  const at = (ms: number): string => new Date(server.clock.now() + ms).toISOString();
  const working = (text: string, more = {}) => agent.ok('setMyLine', { body: { kind: 'working', text, ...more } });
  const paused = (text: string, ms: number, from: Api = agent) =>
    from.ok('setMyLine', { body: { kind: 'paused', text, until: at(ms) } });
  const report = (presence: string) => agent.ok('setPresence', { body: { presence } });
  const seen = (reader: Api = server.dana): Promise<Member> =>
    reader.ok('getMember', { params: { board, member: agent.memberId } });
  const shown = async () => {
    const { line, state } = await seen();
    return [line?.kind ?? null, state];
  };
  /** One sweep may have begun before the time was moved; the next one comes after its usual pause. */
  const swept = () =>
    until(async () => {
      server.clock.advance(LINES_EVERY_MS);
      return (await rows()) === 0;
    }, 'the sweep has cleared it');
  const rows = async () =>
    (
      await server.db.read((tx) =>
        tx.query((db) => db('agent_lines').where('member_id', agent.memberId).select('member_id')),
      )
    ).length;
  const newTask = (title: string) => server.dana.ok('createTask', { params: { board }, body: { title } });

  it('is shown to everybody on the board, whatever they may read, and is no part of the record', async () => {
    await server.dana.ok('updateBoard', { params: { board }, body: { policy: { preset: 'recommended' } } });
    const { head_seq } = await server.dana.ok('getBoard', { params: { board } });
    const member = await working('capping the backoff');
    expect(member.line).to.deep.include({
      kind: 'working',
      text: 'capping the backoff',
      until: null,
      task: null,
      set_by: agent.name,
      source: 'command',
    });
    expect([member.state, member.current_task]).to.deep.equal(['disconnected', null]);
    const stranger = await newAgent(server.dana, board);
    for (const reader of [server.dana, pam, agent, stranger]) {
      expect((await seen(reader)).line).to.deep.equal(member.line);
      const { members } = await reader.ok('listMembers', { params: { board }, query: { kind: 'agent' } });
      expect(members[0]?.line).to.deep.equal(member.line);
    }
    expect((await pam.ok('listMyAgents')).agents.find(({ id }) => id === agent.memberId)?.line).to.deep.equal(
      member.line,
    );
    const people = (await pam.ok('listMembers', { params: { board }, query: { kind: 'human' } })).members;
    expect(people.map(({ line, state }) => [line, state])).to.deep.equal([
      [null, null],
      [null, null],
    ]);
    const head = (await server.dana.ok('getBoard', { params: { board } })).head_seq;
    expect(head).to.equal(head_seq + 1, 'only the stranger came');
    expect((await agent.ok('clearMyLine')).line).to.equal(null);
    expect((await agent.ok('clearMyLine')).line).to.equal(null);
  });

  it('is about the current task unless another is named, and the last writer wins', async () => {
    const [one, two] = [await newTask('one'), await newTask('two')];
    const started = await agent.ok('startTask', { params: { board, task: one.ref } });
    expect((await seen()).line).to.deep.include({ kind: 'working', text: 'one', source: 'task' });
    const ref = ({ id, ref, title }: typeof started) => ({ id, ref, title });
    const first = (await working('a plan', { source: 'plan' })).line;
    expect([first?.task, first?.source]).to.deep.equal([ref(one), 'plan']);
    expect((await working('beside it', { task: two.ref.toLowerCase() })).line?.task).to.deep.equal(ref(two));
    server.clock.advance(1_000);
    const again = await working('beside it', { task: two.id });
    expect(Date.parse(again.line?.at ?? '')).to.be.greaterThan(Date.parse(first?.at ?? ''));
    const by = await pam.ok('setAgentLine', {
      params: { board, member: agent.name },
      body: { kind: 'working', text: 'as pam says' },
    });
    expect(by.line).to.deep.include({ text: 'as pam says', set_by: 'pam', task: ref(one) });
    await server.dana.ok('finishTask', { params: { board, task: one.ref }, body: { note: 'done' } });
    expect(await seen()).to.deep.include({ line: null, current_task: null });
    await working('beside it', { task: two.ref });
    await server.dana.ok('startTask', { params: { board, task: two.ref } });
    await server.dana.ok('dropTask', { params: { board, task: two.ref }, body: {} });
    expect((await seen()).line?.text).to.equal('beside it');
    await agent.ok('startTask', { params: { board, task: two.ref } });
    await agent.ok('dropTask', { params: { board, task: two.ref }, body: {} });
    expect((await seen()).line).to.equal(null);
  });

  it('is set and cleared for them by their own person alone', async () => {
    const body = { kind: 'paused', text: 'lunch', until: at(60_000) };
    const on = (member: string) => ({ params: { board, member }, body });
    const eve = await server.person(`eve-${board}`);
    for (const caller of [pam, await newBrowser(server, pam)]) {
      expect((await caller.ok('setAgentLine', on(agent.name))).line?.set_by).to.equal('pam');
      const cleared = await caller.ok('clearAgentLine', { params: { board, member: agent.memberId } });
      expect(cleared.line).to.equal(null);
    }
    expect(await server.dana.refused('setAgentLine', on(agent.name))).to.equal('403 agent_owner_required');
    expect(await pam.refused('setAgentLine', on('pam'))).to.equal('403 agent_owner_required');
    expect(await agent.refused('setAgentLine', on(agent.name))).to.equal('403 human_token_required');
    expect(await agent.refused('clearAgentLine', on(agent.name))).to.equal('403 human_token_required');
    expect(await pam.refused('setMyLine', { body })).to.equal('403 agent_token_required');
    expect(await pam.refused('clearMyLine')).to.equal('403 agent_token_required');
    expect(await (await newDelegation(pam)).refused('setMyLine', { body })).to.equal('403 forbidden');
    expect(await eve.refused('setAgentLine', on(agent.name))).to.equal('403 not_on_board');
    const ended = await newAgent(pam, board);
    await endMember(server, ended.memberId);
    for (const nobody of ['nobody', 'Not a name', 'mem_1', ended.name, ended.memberId]) {
      expect(await pam.refused('setAgentLine', on(nobody)), nobody).to.equal('404 member_not_found');
      const cleared = await pam.refused('clearAgentLine', { params: { board, member: nobody } });
      expect(cleared).to.equal('404 member_not_found');
    }
  });

  it('refuses what is no line, in the order of the contract', async () => {
    const set = (body: unknown) => agent.refused('setMyLine', { body });
    const bad = [
      {},
      { kind: 'working' },
      { kind: 'working', text: '' },
      { kind: 'working', text: '  ' },
      { kind: 'working', text: 'two\nlines' },
      { kind: 'working', text: 'a\u200bb' },
      { kind: 'working', text: 'x'.repeat(121) },
      { kind: 'working', text: 'x', until: at(60_000) },
      { kind: 'working', text: 'x', source: 'task' },
      { kind: 'working', text: 'x', task: 'no task' },
      { kind: 'working', text: 'x', set_by: 'pam' },
      { kind: 'idle', text: 'x' },
      { kind: 'paused', text: 'x' },
      { kind: 'paused', text: 'x', until: 'tomorrow' },
      { kind: 'paused', text: 'x', until: '2026-13-45T00:00:00.000Z' },
      { kind: 'paused', text: 'x', task: 'XX-99', until: at(31 * DAY) },
    ];
    for (const body of bad) expect(await set(body), JSON.stringify(body)).to.equal('400 invalid_request');
    expect(await set({ kind: 'paused', text: 'x', task: 'XX-99', until: at(-1) })).to.equal('404 task_not_found');
    expect(await set({ kind: 'paused', text: 'x', until: at(-1) })).to.equal('422 line_until_past');
    expect(await rows()).to.equal(0);
    await paused('x'.repeat(120), 29 * DAY);
  });

  it('of a pause takes its end in any form of ISO 8601, and shows it in one', async () => {
    const end = Math.ceil(server.clock.now() / 1000) * 1000 + 3_600_000;
    for (const until of isoForms(end)) {
      const { line } = await agent.ok('setMyLine', { body: { kind: 'paused', text: 'lunch', until } });
      expect(line?.until, until).to.equal(new Date(end).toISOString());
      expect((await seen()).line?.until, until).to.equal(new Date(end).toISOString());
    }
    const local = new Date(end).toISOString().slice(0, -1);
    const refused = await agent.call('setMyLine', { body: { kind: 'paused', text: 'lunch', until: local } });
    expect([refused.status, refused.code]).to.deep.equal([400, 'invalid_request']);
    expect(refused.text).to.include('until: must be a date and time that exist, with Z or an offset');
  });

  it('hides secrets, is answered again under its key, and goes on while the board is archived', async () => {
    const text = 'with ghp_abcdefghijklmnopqrstuvwxyz0123456789';
    expect((await working(text)).line?.text).not.to.include('ghp_abc');
    await server.dana.ok('archiveBoard', { params: { board } });
    const call = { body: { kind: 'working', text: 'once' }, key: 'line-1' };
    const first = await agent.call('setMyLine', call);
    await agent.ok('clearMyLine');
    const again = await agent.call('setMyLine', call);
    expect([first.status, again.status, again.replayed, again.text]).to.deep.equal([200, 200, true, first.text]);
    expect((await seen()).line).to.equal(null);
  });

  it('goes with the presence of who set it, also when somebody comes back before anybody looked', async () => {
    await report('working');
    await working('here');
    expect(await shown()).to.deep.equal(['working', 'working']);
    await report('idle');
    expect(await shown()).to.deep.equal(['working', 'working']);
    await report('waiting');
    expect(await shown()).to.deep.equal(['working', 'waiting']);
    await report('no_session');
    expect(await shown()).to.deep.equal([null, 'disconnected']);
    await report('idle');
    expect(await shown()).to.deep.equal([null, 'idle']);
    await working('here again');
    server.clock.advance(181_000);
    await report('idle');
    expect(await shown()).to.deep.equal([null, 'idle']);
    expect(await rows()).to.equal(0);
  });

  it('of a pause stays without a session, turns late, and is forgotten a week later', async () => {
    await report('working');
    await paused('lunch', 600_000);
    expect(await shown()).to.deep.equal(['paused', 'paused']);
    await report('no_session');
    expect(await shown()).to.deep.equal(['paused', 'paused']);
    server.clock.advance(601_000);
    expect(await shown()).to.deep.equal(['paused', 'late']);
    server.clock.advance(7 * DAY);
    expect(await shown()).to.deep.equal([null, 'disconnected']);
    await swept();
  });

  it('without any session is forgotten 12 hours later', async () => {
    await working('left alone');
    server.clock.advance(DAY / 2 - 10_000);
    expect(await shown()).to.deep.equal(['working', 'disconnected']);
    server.clock.advance(11_000);
    expect(await shown()).to.deep.equal([null, 'disconnected']);
    await swept();
  });

  it('ends with the seat', async () => {
    await working('here');
    await pam.ok('removeMember', { params: { board, member: agent.name } });
    expect(await rows()).to.equal(0);
    expect(await seen()).to.include({ line: null, state: 'disconnected' });
    expect(await agent.refused('setMyLine', { body: { kind: 'working', text: 'x' } })).to.equal('403 agent_removed');
  });

  it('names the person who set it as they are called on the board now', async () => {
    await newAgent(server.dana, board, { name: 'ina' });
    const ina = await server.person('ina');
    await server.dana.ok('addBoardPerson', { params: { board }, body: { handle: 'ina' } });
    const own = await newAgent(ina, board);
    const on = { params: { board, member: own.name } };
    const { line } = await ina.ok('setAgentLine', { ...on, body: { kind: 'working', text: 'x' } });
    expect(line?.set_by).to.equal('ina-2');
    await server.dana.ok('renamePerson', { params: { handle: 'ina' }, body: { handle: 'ida' } });
    expect((await ina.ok('getMember', on)).line?.set_by).to.equal('ida');
  });

  describe('on streams of hints', () => {
    const open = async (api: Api): Promise<TestStream> => {
      const stream = await TestStream.open(api);
      await stream.frame(({ event }) => event === 'ready');
      return stream;
    };
    const told = (stream: TestStream) =>
      stream
        .named('presence')
        .map(({ data }) => data)
        .filter((data) => data.board_id === boardId)
        .map((data) => [data.line?.text ?? null, data.state]);

    it('is told when it is set, changes and goes, also of an agent that never reported', async () => {
      const stream = await open(server.dana);
      await working('one');
      await stream.until(() => told(stream).length === 1);
      const task = await newTask('a task');
      await agent.ok('startTask', { params: { board, task: task.ref } });
      await stream.until(() => told(stream).length === 2);
      expect(stream.named('presence').at(-1)?.data.line.task.ref).to.equal(task.ref);
      await server.dana.ok('finishTask', { params: { board, task: task.ref }, body: { note: 'x' } });
      await stream.until(() => told(stream).length === 3);
      expect(told(stream)).to.deep.equal([
        ['one', 'disconnected'],
        ['a task', 'disconnected'],
        [null, 'disconnected'],
      ]);
      await newAgent(pam, board);
      await working('two');
      await stream.until(() => told(stream).length === 4);
      stream.close();
    });

    it('is told when it turns late or goes with its presence, within 25 seconds', async () => {
      await report('working');
      const stream = await open(server.dana);
      await paused('lunch', 600_000);
      await stream.until(() => told(stream).length === 1);
      for (let n = 0; n < 3; n++) {
        server.clock.advance(150_000);
        await report('working');
      }
      server.clock.advance(151_000);
      await stream.until(() => told(stream).at(-1)?.[1] === 'late');
      await report('working');
      await working('back');
      await stream.until(() => told(stream).at(-1)?.[1] === 'working');
      server.clock.advance(181_000);
      await stream.until(() => told(stream).at(-1)?.[1] === 'disconnected');
      expect(told(stream).at(-1)).to.deep.equal([null, 'disconnected']);
      stream.close();
    });

    if (engine === 'postgres') {
      it('is told by another server process too', async () => {
        const twin = await startTwin(server);
        const stream = await open(new Api(twin.url, server.dana.token));
        await paused('lunch', 60_000);
        await stream.until(() => told(stream).at(-1)?.[1] === 'paused');
        server.clock.advance(61_000);
        await stream.until(() => told(stream).at(-1)?.[1] === 'late');
        stream.close();
        await twin.close();
      });
    }
  });
});
