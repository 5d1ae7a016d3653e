/** What a session waits for its person with, and what an agent's program used: told to the agent's person alone. */
import { expect } from 'chai';
import type { Member } from '../../../src/contract/types.ts';
import type { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { newBrowser, putOnBoard } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';

forEachDatabase('what a seat reports for its person', (engine) => {
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

  const seen = (reader: Api): Promise<Member> => reader.ok('getMember', { params: { board, member: agent.memberId } });
  const asks = (waiting: object) => agent.ok('setPresence', { body: { presence: 'waiting', waiting } as never });
  const uses = (body: object, idempotencyKey?: string) =>
    agent.ok('reportUsage', { body: body as never, ...(idempotencyKey ? { key: idempotencyKey } : {}) });

  it('shows what its session asks, and where, until its presence is another one', async () => {
    const { presence_since: since } = await asks({
      for: 'permission',
      question: 'Bash: mkdir x',
      where: 'tmux work:1.0',
    });
    const waiting = { for: 'permission', question: 'Bash: mkdir x', where: 'tmux work:1.0', since };
    for (const reader of [pam, await newBrowser(server, pam)]) {
      expect((await seen(reader)).waiting).to.deep.equal(waiting);
      expect((await reader.ok('listMyAgents')).agents.find(({ id }) => id === agent.memberId)?.waiting).to.deep.equal(
        waiting,
      );
    }
    expect((await seen(pam)).state).to.equal('waiting');
    server.clock.advance(30_000);
    await asks({ for: 'question', question: 'Which one?' });
    expect((await seen(pam)).waiting).to.deep.equal({ for: 'question', question: 'Which one?', since });
    await agent.ok('setPresence', { body: { presence: 'working', waiting: { for: 'question' } } });
    expect(await seen(pam)).not.to.have.property('waiting');
    await asks({ for: 'permission' });
    server.clock.advance(180_000);
    expect(await seen(pam)).not.to.have.property('waiting');
  });

  it('pushes another question to who follows the board, without its words', async () => {
    await asks({ for: 'question', question: 'Which one?' });
    const stream = await TestStream.open(pam);
    await stream.frame(({ event }) => event === 'ready');
    await asks({ for: 'question', question: 'Which one?' });
    await asks({ for: 'question', question: 'And then?' });
    const { data } = await stream.frame(({ event }) => event === 'presence');
    expect(data).to.include({ member_id: agent.memberId, presence: 'waiting' });
    expect(JSON.stringify(data)).not.to.include('then');
    expect((await seen(pam)).waiting?.question).to.equal('And then?');
    await agent.ok('setPresence', { body: { presence: 'idle' } });
    await stream.close();
  });

  it('makes of it, after 20 seconds, one thing a session that its person is needed for, gone by itself', async () => {
    const other = (await newBoard(pam)).name;
    const second = await newAgent(pam, other);
    const body = { presence: 'waiting', waiting: { for: 'permission', question: 'Bash: make', where: 'tmux w:0.1' } };
    const needs = async (reader: Api = pam) => reader.ok('listNeeds');
    const none = { needs: [], changes_at: null };
    const place = { harness: 'codex', session_id: 's1', folder: '/work' };
    for (const seat of [agent, second]) {
      await seat.ok('setLocation', { body: place });
      await seat.ok('setPresence', { body: body as never });
    }
    const since = Date.parse((await seen(pam)).presence_since!);
    const soon = await needs();
    expect(soon.needs).to.deep.equal([]);
    expect(Date.parse(soon.changes_at!) - since).to.be.within(15_000, 20_000);
    server.clock.advance(25_000);
    const { needs: found, changes_at: next } = await needs();
    expect(found).to.deep.equal([
      {
        kind: 'agent_waiting',
        id: agent.memberId,
        at: new Date(since).toISOString(),
        board,
        board_id: found[0]?.board_id,
        text: `${agent.name} waits for your permission on laptop, tmux w:0.1: Bash: make`,
        agent: agent.name,
        member_id: agent.memberId,
        ...{ for: 'permission', question: 'Bash: make', where: 'tmux w:0.1', machine: 'laptop', folder: '/work' },
      },
    ]);
    expect(Date.parse(next!) - since).to.be.within(180_000, 190_000);
    expect(await needs(server.dana)).to.deep.equal(none);
    for (const seat of [agent, second]) await seat.ok('setPresence', { body: { presence: 'working' } });
    expect(await needs()).to.deep.equal(none);
    await agent.ok('setPresence', { body: { presence: 'waiting' } });
    server.clock.advance(21_000);
    expect((await needs()).needs[0]?.text).to.equal(`${agent.name} waits for you on laptop, /work`);
    await asks({ for: 'question' });
    expect((await needs()).needs.map(({ text }) => text)).to.deep.equal([
      `${agent.name} waits for your answer on laptop, /work`,
    ]);
    server.clock.advance(180_000);
    expect(await needs()).to.deep.equal(none);
  });

  it('tells nobody else what its session asks, not its own and other agents either', async () => {
    await asks({ for: 'question', question: 'a private matter' });
    for (const reader of [server.dana, agent, await newAgent(pam, board), await newAgent(server.dana, board)]) {
      expect(await seen(reader))
        .to.include({ state: 'waiting' })
        .and.not.have.property('waiting');
      expect((await reader.call('listMembers', { params: { board } })).text).not.to.include('private matter');
    }
  });

  it('keeps no secret of a question, and no more of it than 500 characters', async () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`;
    const asked = `Bash: curl -H "Authorization: ${secret}" ${'x'.repeat(1_500)}`;
    await asks({ for: 'permission', question: asked, where: `tmux ${secret}` });
    const { question = '', where } = (await seen(pam)).waiting!;
    expect(where).to.equal('tmux [redacted:github_token]');
    expect(question).to.have.length(500).and.include('[redacted:').and.not.include(secret);
    const rows = await server.db.read((tx) =>
      tx.query<object>((db) => db('seat_reports').where('member_id', agent.memberId).select('*')),
    );
    expect(JSON.stringify(rows)).not.to.include(secret);
    for (const waiting of [
      {},
      { for: 'fun' },
      { for: 'question', question: 'x'.repeat(2_001) },
      { for: 'question', a: 1 },
    ])
      expect(await agent.refused('setPresence', { body: { presence: 'waiting', waiting } as never })).to.equal(
        '400 invalid_request',
      );
  });

  it('adds up what its program used today, once for one key, and keeps apart what was never told', async () => {
    expect(await seen(pam)).not.to.have.property('usage');
    await uses({ turns: 1 });
    expect((await seen(pam)).usage).to.have.all.keys('turns', 'since');
    await uses({ turns: 2, input_tokens: 100, output_tokens: 7 }, 'one-report');
    await uses({ turns: 2, input_tokens: 100, output_tokens: 7 }, 'one-report');
    const answer = await uses({ turns: 1, input_tokens: 5, cost_usd: 0.125 });
    const today = `${new Date(server.clock.now()).toISOString().slice(0, 10)}T00:00:00.000Z`;
    expect(answer).to.deep.equal({ turns: 4, input_tokens: 105, output_tokens: 7, cost_usd: 0.125, since: today });
    expect((await seen(pam)).usage).to.deep.equal(answer);
    for (const reader of [server.dana, agent]) expect(await seen(reader)).not.to.have.property('usage');
    server.clock.advance(86_400_000);
    expect(await seen(pam)).not.to.have.property('usage');
    expect(await uses({ turns: 1 }))
      .to.include({ turns: 1 })
      .and.not.have.property('cost_usd');
  });

  it('forgets what its program used more than 30 days ago', async () => {
    const days = () =>
      server.db.read((tx) => tx.query((db) => db('seat_usage').where('member_id', agent.memberId).select('day')));
    await uses({ turns: 1 });
    server.clock.advance(30 * 86_400_000);
    await uses({ turns: 1 });
    expect(await days()).to.have.length(2);
    server.clock.advance(86_400_000);
    await uses({ turns: 1 });
    expect(await days()).to.have.length(2);
    server.clock.advance(-31 * 86_400_000);
  });

  it('with a cost above the budget lets agents wake it no more, until its person gives it more; an unknown cost takes nothing', async () => {
    const params = { board, member: agent.name };
    await pam.ok('setAgentBudget', { params, body: { cost: { usd: 1, seconds: 86_400 } } });
    const braked = async () => (await seen(pam)).braked?.reason;
    await uses({ turns: 9, input_tokens: 1_000_000 });
    await uses({ turns: 1, cost_usd: 0.75 });
    expect(await braked()).to.equal(undefined);
    await uses({ turns: 1, cost_usd: 0.5 });
    expect(await braked()).to.equal('cost');
    expect((await agent.ok('readInbox')).braked).to.include({ reason: 'cost' });
    expect((await pam.ok('listNeeds')).needs.map(({ kind }) => kind)).to.deep.equal(['agent_braked']);
    await pam.ok('releaseAgent', { params, body: { action: 'more' } });
    expect(await braked()).to.equal(undefined);
    // Ten times a tenth is no whole in a computer's fractions.
    for (let n = 0; n < 10; n++) {
      expect(await braked(), `after ${n} runs`).to.equal(undefined);
      if (n === 5) server.clock.advance(43_200_000);
      await uses({ turns: 1, cost_usd: 0.1 });
    }
    expect(await braked()).to.equal('cost');
    server.clock.advance(86_400_000);
    expect(await braked()).to.equal(undefined);
    await uses({ turns: 1, cost_usd: 0.9 });
    server.clock.advance(86_400_000);
    await uses({ turns: 1, cost_usd: 0.9 });
    expect(await braked()).to.equal(undefined);
  });

  it('is braked by a cost until the time of that cost is over, also where it costs more meanwhile', async () => {
    const hours = (count: number) => server.clock.advance(count * 3_600_000);
    const params = { board, member: agent.name };
    await pam.ok('setAgentBudget', { params, body: { cost: { usd: 1, seconds: 86_400 } } });
    await uses({ turns: 1, cost_usd: 1 });
    const { until } = (await seen(pam)).braked ?? {};
    hours(23);
    await uses({ turns: 1, cost_usd: 0.1 });
    expect((await seen(pam)).braked).to.deep.equal({ until, reason: 'cost' });
    hours(1);
    expect((await seen(pam)).braked).to.equal(undefined);
  });

  it('refuses what is no use, and people', async () => {
    for (const body of [{}, { turns: -1 }, { turns: 1, cost_usd: -1 }, { turns: 1, input_tokens: 1.5 }])
      expect(await agent.refused('reportUsage', { body: body as never })).to.equal('400 invalid_request');
    expect(await pam.refused('reportUsage', { body: { turns: 1 } })).to.equal('403 agent_token_required');
  });
});
