/** What came to a person: boards they were put on, people who came by their invites, how much waits for them. */
import { expect } from 'chai';
import { Api } from '../../support/api.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { addBob, allow, codeOf, held, invitePeople, scene } from '../approvals/cast.ts';
import { type Connected, connect, invite, secretOf } from '../invites/cast.ts';

const DAY = 86_400_000;

forEachDatabase("a person's inbox of arrivals", (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const inbox = (api: Api) => api.ok('getOnboardingInbox');
  const comes = async (secret: string, handle: string): Promise<Api> => {
    const { body } = await connect(server, { invite: secret, handle });
    return new Api(server.url, (body as Connected).key.token);
  };

  it('names a board somebody else put them on, until they read there or bring an agent', async () => {
    const s = await scene(server);
    expect(await inbox(s.bob)).to.deep.equal({
      board_adds: [],
      arrivals: [],
      counts: { approvals_pending: 0, pairings_open: 0 },
    });
    await s.ana.ok('addBoardPerson', { params: { board: s.board.name }, body: { handle: s.bobHandle } });
    const [add, ...others] = (await inbox(s.bob)).board_adds;
    expect(others).to.deep.equal([]);
    expect(add?.board).to.include({ id: s.board.id, name: s.board.name });
    expect(add?.added.by).to.include({ kind: 'human' });
    expect(add?.join_command).to.equal(`service join --board ${s.board.name} --server '${server.url}'`);
    expect(add?.join_prompt).to.include(add?.join_command);
    expect(await inbox(s.bob)).to.have.nested.property('board_adds.length', 1);
    await newAgent(s.bob, s.board.name);
    expect((await inbox(s.bob)).board_adds).to.deep.equal([]);

    const other = await newBoard(s.ana);
    await s.ana.ok('addBoardPerson', { params: { board: other.name }, body: { handle: s.bobHandle } });
    const later = await newBoard(s.ana);
    server.clock.advance(1_000);
    await s.ana.ok('addBoardPerson', { params: { board: later.name }, body: { handle: s.bobHandle } });
    const adds = (await inbox(s.bob)).board_adds;
    expect(adds.map(({ board }) => board.id)).to.deep.equal([later.id, other.id]);
    await s.ana.ok('archiveBoard', { params: { board: other.name }, body: {} });
    expect((await inbox(s.bob)).board_adds.map(({ board }) => board.id)).to.deep.equal([later.id]);
    await s.bob.ok('addBoardPerson', {
      params: { board: (await newBoard(s.ana)).name },
      body: { handle: s.bobHandle },
    });
    expect((await inbox(s.bob)).board_adds).to.have.length(1);
  });

  it('names who came by their invites and with which agents, for a week', async () => {
    const s = await scene(server);
    const made = await invite(s.ana, { boards: [s.board.id] });
    const maya = await comes(secretOf(made), 'maya');
    expect((await inbox(s.ana)).arrivals).to.deep.equal([]);
    const agent = await newAgent(maya, s.board.name, { name: 'helper' });
    await newAgent(maya, (await newBoard(maya)).name);
    const { arrivals } = await inbox(s.ana);
    expect(arrivals).to.have.length(1);
    expect(arrivals[0]).to.include({ invite_id: made.id, handle: 'maya' });
    expect(arrivals[0]?.boards).to.deep.equal([
      {
        board: { id: s.board.id, name: s.board.name, title: null },
        agents: [{ id: agent.memberId, name: 'helper', harness: null }],
      },
    ]);
    expect(JSON.stringify(arrivals)).not.to.include('abi_');

    const asked = await allow(s.ana, await held(s.agent, invitePeople({ boards: [s.board.id] })));
    server.clock.advance(1_000);
    const nils = await comes(secretOf(asked.body.invite as never), 'nils');
    await newAgent(nils, s.board.name);
    expect((await inbox(s.ana)).arrivals.map(({ handle }) => handle)).to.deep.equal(['nils', 'maya']);
    expect((await inbox(s.bob)).arrivals).to.deep.equal([]);
    await agent.ok('leaveSeat', { body: {} });
    expect((await inbox(s.ana)).arrivals.map(({ handle }) => handle)).to.deep.equal(['nils']);
    server.clock.advance(7 * DAY);
    expect((await inbox(s.ana)).arrivals).to.deep.equal([]);
  });

  it('says what of it is on boards that are still seen', async () => {
    const s = await scene(server);
    const closed = await newBoard(s.ana, { visibility: 'private' });
    const made = await invite(s.ana, { boards: [closed.id] });
    const maya = await comes(secretOf(made), 'maya-of-closed');
    await newAgent(maya, closed.name);
    expect((await inbox(s.ana)).arrivals).to.have.length(1);
    await s.ana.ok('makeBoardOwner', { params: { board: closed.name }, body: { handle: 'maya-of-closed' } });
    await s.ana.ok('leaveBoard', { params: { board: closed.name } });
    expect((await inbox(s.ana)).arrivals).to.deep.equal([]);
  });

  it('counts the requests that wait, and only those', async () => {
    const s = await scene(server);
    await held(s.agent, addBob(s));
    const second = await held(s.agent, invitePeople());
    expect((await inbox(s.ana)).counts.approvals_pending).to.equal(2);
    await s.ana.ok('declineApproval', { params: { approval: second.id } });
    expect((await inbox(s.ana)).counts.approvals_pending).to.equal(1);
    server.clock.advance(DAY);
    expect((await inbox(s.ana)).counts.approvals_pending).to.equal(0);
  });

  it('is for people who are no guests', async () => {
    const s = await scene(server);
    const refused = await s.agent.call('getOnboardingInbox');
    expect(codeOf(refused)).to.equal('403 human_token_required');
    expect(refused.text).to.include('service inbox --server');
    const guest = await server.person('guest-of-inbox', 'guest');
    expect(await guest.refused('getOnboardingInbox')).to.equal('403 guest_not_allowed');
  });
});
