import { expect } from 'chai';
import type { RunningServer } from '../../../src/server/serve.ts';
import { Api } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { codeOf, newCode } from '../../support/endings.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { changeBoard, memberIdOf, newBrowser, putOnBoard } from '../../support/state.ts';

forEachDatabase('a membership', (engine) => {
  let server: TestServer;
  let sam: Api;
  let owner: string;
  before(async () => {
    server = await startTestServer(engine);
    sam = await server.person('sam');
    owner = (await server.dana.ok('getMe')).name;
  });
  after(() => server.stop());

  const leave = (api: Api, board: string, key?: string) => api.call('leaveBoard', { params: { board }, key });
  const remove = (api: Api, board: string, handle: string, key?: string) =>
    api.call('removeBoardPerson', { params: { board, handle }, key });
  const said = ({ status, code }: { status: number; code: string | undefined }) => `${status} ${code ?? 'ok'}`;
  const own = (api: Api, board: string, handle: string) =>
    api.call('makeBoardOwner', { params: { board }, body: { handle } });
  const last = async (board: string, count: number) =>
    (await server.dana.ok('listEvents', { params: { board }, query: { newest: true, limit: count } })).events;

  it('ends by leaving, with all of the person there in one commit: agents, then codes', async () => {
    const { name: board } = await newBoard(server.dana);
    const memberId = await putOnBoard(server, board, sam);
    const agents = [await newAgent(sam, board), await newAgent(sam, board)];
    const other = await newAgent(server.dana, board);
    const codes = [
      await newCode(server, board, memberId),
      await newCode(server, board, agents[1]?.memberId ?? ''),
      await newCode(server, board, memberId, { expires_at: 1 }),
      await newCode(server, board, await memberIdOf(server, board, server.dana)),
    ];
    const { status, body } = await leave(sam, board);
    expect(status).to.equal(200);
    expect(body).to.include({ handle: 'sam', member_id: memberId, board, name: 'sam', board_role: 'member' });

    const events = await last(board, 3);
    expect(events.map((event) => event.type)).to.deep.equal(['person.left', 'joincode.revoked', 'joincode.revoked']);
    expect(events[0]?.data).to.deep.equal({
      member_id: memberId,
      person_id: body.id,
      name: 'sam',
      agents: agents.map((agent) => agent.memberId),
    });
    const actor = { kind: 'human', member_id: memberId, name: 'sam', owner: null };
    for (const event of events) expect(event.actor).to.deep.equal(actor);
    // Ids of one millisecond are in no order of their own.
    expect(events.slice(1).map((event) => event.data)).to.have.deep.members(
      codes.slice(0, 2).map((id) => ({ join_code_id: id })),
    );
    const revoked = await Promise.all(codes.map((id) => codeOf(server, id)));
    expect(revoked.map((code) => code['revoked_at'] !== null)).to.deep.equal([true, true, false, false]);

    const { members } = await server.dana.ok('listMembers', { params: { board }, query: { removed: true } });
    const ended = members.filter((member) => member.status !== 'active');
    expect(ended.map((member) => [member.id, member.status, member.removed_by])).to.deep.equal(
      agents.map((agent) => [agent.memberId, 'removed', 'person']),
    );
    for (const agent of agents) expect(await agent.refused('getMe')).to.equal('403 agent_removed');
    await other.ok('getMe');
    expect(await sam.refused('listMessages', { params: { board } })).to.equal('403 not_on_board');
  });

  it('ends by the hand of an owner, whose agents then tell so', async () => {
    const { name: board } = await newBoard(server.dana, { visibility: 'private' });
    const memberId = await putOnBoard(server, board, sam);
    const agent = await newAgent(sam, board);
    const { status, body } = await remove(server.dana, board, 'sam');
    expect(status).to.equal(200);
    expect(body).to.include({ handle: 'sam', member_id: memberId });
    const [event] = await last(board, 1);
    expect(event).to.include({ type: 'person.removed' });
    expect(event?.data).to.deep.equal({
      member_id: memberId,
      person_id: body.id,
      name: 'sam',
      agents: [agent.memberId],
    });
    expect(event?.actor.name).to.equal(owner);
    const told = (await agent.call('getMe')).body as unknown as { error: { details: object } };
    expect(told.error.details).to.include({ agent: agent.name, board, removed_by: 'board_owner' });
    expect(await sam.refused('getBoard', { params: { board } })).to.equal('404 board_not_found');
    expect(said(await remove(server.dana, board, 'sam'))).to.equal('404 person_not_on_board');
  });

  it('ends for people who name themselves, as leaving does, by handle, member name or member id', async () => {
    for (const way of ['handle', 'name', 'id'] as const) {
      const { name: board } = await newBoard(server.dana);
      const id = await putOnBoard(server, board, sam);
      const answer =
        way === 'handle'
          ? await remove(sam, board, 'sam')
          : await sam.call('removeMember', { params: { board, member: way === 'name' ? 'sam' : id } });
      expect(answer.status).to.equal(200);
      expect((await last(board, 1))[0]).to.include({ type: 'person.left' });
    }
  });

  it('is taken by an owner through the member path as through the people path', async () => {
    const { name: board } = await newBoard(server.dana);
    await putOnBoard(server, board, sam);
    const { status, body } = await server.dana.call('removeMember', { params: { board, member: 'sam' } });
    expect(status).to.equal(200);
    expect(body).to.include({ handle: 'sam', board_role: 'member' });
    expect((await last(board, 1))[0]).to.include({ type: 'person.removed' });
    const again = await server.dana.call('removeMember', { params: { board, member: 'sam' } });
    expect(said(again)).to.equal('404 agent_not_found');
  });

  it('is not for others to end: members, guests, people off the board, admins and agents are refused', async () => {
    const [pam, adm] = [await server.person('pam'), await server.person('adm', 'admin')];
    const gus = await server.person('gus', 'guest');
    const { name: board } = await newBoard(pam);
    for (const api of [sam, gus]) await putOnBoard(server, board, api);
    for (const api of [sam, gus]) {
      const { code, body } = await remove(api, board, 'pam');
      expect(code).to.equal('owner_required');
      expect(JSON.stringify(body)).to.include('pam');
      expect(said(await remove(api, board, 'nobody-here'))).to.equal('403 owner_required');
      expect(said(await api.call('removeMember', { params: { board, member: 'pam' } }))).to.equal('403 owner_required');
    }
    expect(said(await remove(adm, board, 'pam'))).to.equal('403 not_on_board');
    expect(said(await adm.call('removeMember', { params: { board, member: 'pam' } }))).to.equal('404 agent_not_found');
    expect(said(await leave(adm, board))).to.equal('403 not_on_board');
    const agent = await newAgent(pam, board);
    expect(said(await leave(agent, board))).to.equal('403 human_token_required');
    expect(said(await remove(agent, board, 'sam'))).to.equal('403 human_token_required');
    expect(said(await remove(pam, board, 'Not-A-Handle'))).to.equal('400 invalid_request');
    expect(said(await leave(gus, board))).to.equal('200 ok');
  });

  it('of the last owner does not end; of an owner taken off by another it does, also in a browser', async () => {
    const pam = await server.person('pam2');
    const { name: board } = await newBoard(pam);
    await putOnBoard(server, board, sam);
    for (const answer of [await leave(pam, board), await remove(pam, board, 'pam2')]) {
      expect(said(answer)).to.equal('409 last_owner');
      expect(answer.text)
        .to.include('service board owners')
        .and.to.include(`If nobody else is on it: service board archive ${board}`);
    }
    await own(pam, board, 'sam');
    expect(said(await remove(await newBrowser(server, sam), board, 'pam2'))).to.equal('200 ok');
    expect(said(await leave(sam, board))).to.equal('409 last_owner');
    await changeBoard(server, board, { lifecycle: 'archived' });
    expect((await leave(sam, board)).text).to.include(
      'Have the board restored, then make somebody else an owner: service',
    );
  });

  it('ends on an archived board too', async () => {
    const { name: board } = await newBoard(server.dana);
    const pam = await server.person('pam3');
    for (const api of [sam, pam]) await putOnBoard(server, board, api);
    await changeBoard(server, board, { lifecycle: 'archived' });
    expect(said(await leave(sam, board))).to.equal('200 ok');
    expect(said(await remove(server.dana, board, 'pam3'))).to.equal('200 ok');
  });

  it('that ended comes back with the old id and name, and with its old agents still ended', async () => {
    const { name: board } = await newBoard(server.dana);
    const id = await putOnBoard(server, board, sam);
    const agent = await newAgent(sam, board, { name: 'helper' });
    await post(server.dana, board, 'before');
    await remove(server.dana, board, 'sam');
    await post(server.dana, board, 'while away');
    const back = await server.dana.ok('addBoardPerson', { params: { board }, body: { handle: 'sam' } });
    expect(back).to.include({ member_id: id, name: 'sam', board_role: 'member' });
    expect((await last(board, 1))[0]?.data).to.include({ rejoined: true });
    expect(await sam.ok('getBoard', { params: { board } })).to.include({ unread: 0 });
    expect(await agent.refused('getMe')).to.equal('403 agent_removed');
    expect(await sam.refused('joinBoard', { body: { board, role: 'member', name: 'helper' } })).to.equal(
      '409 name_taken',
    );
  });

  it('that ended is told again under its key on an open board, and is 404 on a private one', async () => {
    for (const visibility of ['open', 'private'] as const) {
      const { name: board } = await newBoard(server.dana, { visibility });
      await putOnBoard(server, board, sam);
      const first = await leave(sam, board, `leave ${board}`);
      const again = await leave(sam, board, `leave ${board}`);
      if (visibility === 'private') expect(said(again)).to.equal('404 board_not_found');
      else expect(again).to.include({ text: first.text, replayed: true });
    }
    const { name: board } = await newBoard(server.dana);
    await putOnBoard(server, board, sam);
    const first = await remove(server.dana, board, 'sam', `remove ${board}`);
    const again = await remove(server.dana, board, 'sam', `remove ${board}`);
    expect(again).to.include({ text: first.text, replayed: true });
    expect((await last(board, 2)).filter((event) => event.type === 'person.removed')).to.have.length(1);
  });

  it('that must not end is refused again under its key, until the caller is off the board', async () => {
    const pam = await server.person('pam4');
    const { name: board } = await newBoard(pam);
    await putOnBoard(server, board, sam);
    expect(said(await leave(pam, board, 'k'))).to.equal('409 last_owner');
    await own(pam, board, 'sam');
    expect(await leave(pam, board, 'k')).to.include({ code: 'last_owner', replayed: true });
    await remove(sam, board, 'pam4');
    expect(said(await leave(pam, board, 'k'))).to.equal('403 not_on_board');
  });

  it('of one of two people with agents ends what messages show of whose agents they are', async () => {
    const { name: board } = await newBoard(server.dana);
    await putOnBoard(server, board, sam);
    await newAgent(server.dana, board);
    const agent = await newAgent(sam, board);
    const { id } = await post(agent, board, 'hello');
    const shown = async () => (await server.dana.ok('getMessage', { params: { message: id } })).message.show_owner;
    expect(await shown()).to.equal(true);
    await leave(sam, board);
    expect(await shown()).to.equal(false);
  });

  describe('of two owners at once', () => {
    let twin: RunningServer | null = null;
    after(() => twin?.close());

    async function race(there: (api: Api) => Api): Promise<void> {
      for (let n = 0; n < 5; n++) {
        const { name: board } = await newBoard(server.dana);
        await putOnBoard(server, board, sam);
        await own(server.dana, board, 'sam');
        const answers = await Promise.all([
          leave(server.dana, board),
          n % 2 === 0 ? leave(there(sam), board) : remove(there(sam), board, 'sam'),
        ]);
        expect(answers.map(said).sort()).to.deep.equal(['200 ok', '409 last_owner']);
        const { people } = await server.dana.ok('listBoardPeople', { params: { board } });
        expect(people.map((person) => person.board_role)).to.deep.equal(['owner']);
      }
    }

    it('is refused to exactly one', () => race((api) => api));

    it('of which each takes the other off, leaves one', async () => {
      const { name: board } = await newBoard(server.dana);
      await putOnBoard(server, board, sam);
      await own(server.dana, board, 'sam');
      const answers = await Promise.all([remove(server.dana, board, 'sam'), remove(sam, board, owner)]);
      expect(answers.map(said).sort()).to.deep.equal(['200 ok', '403 not_on_board']);
    });

    if (engine === 'postgres') {
      it('is refused to exactly one, through two server processes', async () => {
        const other = await startTwin(server);
        twin = other;
        await race((api) => new Api(other.url, api.token, api.personId));
      });
    }
  });
});
