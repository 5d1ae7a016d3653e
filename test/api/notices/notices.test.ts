/** What agents and people are told of requests, and when. */
import { expect } from 'chai';
import { Api } from '../../support/api.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { endMember } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';
import { until } from '../../support/until.ts';
import { addBob, allow, codeOf, decline, held, invitePeople, look, type Scene, scene } from '../approvals/cast.ts';
import { type Connected, connect, secretOf } from '../invites/cast.ts';

const DAY = 86_400_000;

forEachDatabase('a notice', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const notices = async (agent: Api) => (await agent.ok('listNotices')).notices;
  const kinds = async (agent: Api) => (await notices(agent)).map(({ kind }) => kind);

  it('tells the agent what was decided, until its runtime says that it was told', async () => {
    const s = await scene(server);
    const [one, two] = [await held(s.agent, addBob(s)), await held(s.agent, invitePeople())];
    await decline(s.ana, one);
    await allow(s.ana, two);
    const [declined, allowed] = await notices(s.agent);
    expect([declined?.kind, allowed?.kind]).to.deep.equal(['approval_declined', 'approval_allowed']);
    expect(allowed?.next.command).to.equal(`service approvals show ${two.id} --server '${server.url}'`);
    expect(allowed).to.include({ approval_id: two.id });
    expect(JSON.stringify(allowed)).not.to.include('abi_');
    const other = await newAgent(s.ana, s.board.name);
    const ids = [declined?.id, allowed?.id];
    expect(await other.ok('ackNotices', { body: { ids } })).to.deep.equal({ acknowledged: 0 });
    expect(await s.agent.ok('ackNotices', { body: { ids } })).to.deep.equal({ acknowledged: 2 });
    expect(await s.agent.ok('ackNotices', { body: { ids } })).to.deep.equal({ acknowledged: 0 });
    expect(await notices(s.agent)).to.deep.equal([]);
    expect(codeOf(await s.ana.call('listNotices'))).to.equal('403 agent_token_required');
  });

  it('ends a wait, from whichever server it was decided at', async () => {
    const twin = engine === 'postgres' ? await startTwin(server) : null;
    const s = await scene(server);
    const approval = await held(s.agent, addBob(s));
    const waiting = s.agent.ok('listNotices', { query: { wait: 60 } });
    await allow(new Api(twin?.url ?? server.url, s.ana.token), approval);
    expect((await waiting).notices.map(({ approval_id }) => approval_id)).to.deep.equal([approval.id]);
    await twin?.close();
  });

  it('comes with the end of the time that a person had, which is written down each minute', async () => {
    const s = await scene(server);
    const approval = await held(s.agent, addBob(s));
    server.clock.advance(DAY + 120_000);
    await until(async () => (await kinds(s.agent)).includes('approval_expired'), 'the sweep tells it');
    const { state, decided_at, expires_at } = await look(s.ana, approval);
    expect([state, decided_at]).to.deep.equal(['expired', expires_at]);
  });

  it('tells who came by the invite, and of their first agent on its board, once', async () => {
    const s: Scene = await scene(server);
    const approval = await held(s.agent, invitePeople({ boards: [s.board.id] }));
    const { body } = await allow(s.ana, approval);
    const joined = await connect(server, { invite: secretOf(body.invite as never), handle: 'maya' });
    const maya = new Api(server.url, (joined.body as Connected).key.token);
    expect(await kinds(s.agent)).to.deep.equal(['approval_allowed', 'invite_redeemed']);
    for (const name of ['first', 'second']) await newAgent(maya, s.board.name, { name });
    const all = await notices(s.agent);
    expect(all.map(({ kind }) => kind)).to.deep.equal(['approval_allowed', 'invite_redeemed', 'colleague_arrived']);
    expect(all[2]?.person?.handle).to.equal('maya');
    await server.db.write((tx) => tx.change((db) => db('notices').where('member_id', s.agent.memberId).delete()));
    for (const member of ['first', 'second'])
      await maya.ok('removeMember', { params: { board: s.board.name, member } });
    await newAgent(maya, s.board.name, { name: 'third' });
    expect(await kinds(s.agent)).to.deep.equal([]);
    expect(all[2]?.next.command).to.equal(`service members --board ${s.board.name} --server '${server.url}'`);
  });

  it('tells nothing of a private board that its person is no longer on', async () => {
    const s: Scene = await scene(server);
    const hidden = await newBoard(s.ana, { visibility: 'private' });
    const { body } = await allow(s.ana, await held(s.agent, invitePeople({ boards: [hidden.id] })));
    const joined = await connect(server, { invite: secretOf(body.invite as never), handle: 'noor' });
    const noor = new Api(server.url, (joined.body as Connected).key.token);
    await s.ana.ok('makeBoardOwner', { params: { board: hidden.name }, body: { handle: 'noor' } });
    await s.ana.ok('leaveBoard', { params: { board: hidden.name } });
    await newAgent(noor, hidden.name);
    expect(await kinds(s.agent)).to.deep.equal(['approval_allowed', 'invite_redeemed']);
  });

  it('is one of at most fifty, and none for an agent that ended', async () => {
    const s = await scene(server);
    for (let n = 0; n < 52; n++) await decline(s.ana, await held(s.agent, addBob(s)));
    expect((await s.agent.ok('listNotices', { query: { limit: 100 } })).notices).to.have.length(50);
    const first = await s.agent.ok('listNotices', { query: { limit: 30 } });
    const rest = await s.agent.ok('listNotices', { query: { limit: 30, after: first.next_after ?? '' } });
    expect([first.notices.length, rest.notices.length, rest.next_after]).to.deep.equal([30, 20, null]);
    await endMember(server, s.agent.memberId);
    expect(codeOf(await s.agent.call('listNotices'))).to.equal('403 agent_removed');
  });

  it('of a decision stays however many overlapping lines are told of after it', async () => {
    const s = await scene(server);
    await decline(s.ana, await held(s.agent, addBob(s)));
    const rival = await newAgent(s.ana, s.board.name);
    const on = (agent: Api, path: string) =>
      agent.ok('setMyLine', { body: { kind: 'working', text: 'on it', repo: 'github.com/acme/api', paths: [path] } });
    for (let n = 0; n < 51; n++) {
      await on(rival, 'docs/**');
      await on(s.agent, `src/${n}.ts`);
      await on(rival, 'src/**');
    }
    const all = (await s.agent.ok('listNotices', { query: { limit: 100 } })).notices;
    expect(all.map(({ kind }) => kind)).to.deep.equal(['approval_declined', ...Array(49).fill('line_overlap')]);
    expect(all.at(-1)?.text).to.include('src/50.ts');
  });

  it('is hinted at on the stream of the person, with requests and allowance, by ids alone', async () => {
    const s = await scene(server);
    const stream = await TestStream.open(s.ana);
    await stream.frame(({ event }) => event === 'ready');
    const told = async (event: string, data: Record<string, unknown>) => {
      const frame = await stream.frame((each) => each.event === event && each.data.state === data['state']);
      expect(frame.data).to.deep.equal(data);
    };
    const approval = await held(s.agent, addBob(s));
    const about = { approval_id: approval.id, member_id: s.agent.memberId };
    await told('approval', { ...about, state: 'pending' });
    await decline(s.ana, approval);
    await told('approval', { ...about, state: 'declined' });
    await told('notice', { board_id: s.board.id, member_id: s.agent.memberId });
    server.clock.advance(-60_000);
    await decline(s.ana, await held(s.agent, addBob(s)));
    await stream.until(() => stream.named('notice').length === 2);
    server.clock.advance(60_000);
    await s.ana.ok('setAllowance', { body: { categories: ['add_people'] } });
    await told('allowance', { revision: 1 });
    await stream.close();
  });
});
