import { expect } from 'chai';
import { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { codeOf, newCode, reports } from '../../support/endings.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import {
  boardRow,
  changeBoard,
  changeRole,
  memberIdOf,
  newBrowser,
  newDelegation,
  putOnBoard,
  revokeKey,
} from '../../support/state.ts';

const NOBODY = 'mem_01K5A0000000000000000000M1';

forEachDatabase('a seat', (engine) => {
  let server: TestServer;
  let sam: Api;
  let adm: Api;
  before(async () => {
    server = await startTestServer(engine);
    sam = await server.person('sam');
    adm = await server.person('adm', 'admin');
  });
  after(() => server.stop());

  const remove = (api: Api, board: string, member: string, key?: string) =>
    api.call('removeMember', { params: { board, member }, key });
  const said = ({ status, code }: { status: number; code: string | undefined }) => `${status} ${code ?? 'ok'}`;
  const last = async (board: string, count = 1) =>
    (await server.dana.ok('listEvents', { params: { board }, query: { newest: true, limit: count } })).events;
  const ended = async (agent: Agent) =>
    ((await agent.call('getMe')).body as unknown as { error: { details: Record<string, unknown> } }).error.details;

  describe('that leaves', () => {
    it('ends at once and for good: its record, its event, its code, its token', async () => {
      const { name: board, id } = await newBoard(server.dana);
      await putOnBoard(server, board, sam);
      const agent = await newAgent(sam, board, { name: 'helper' });
      const code = await newCode(server, board, agent.memberId);
      const seat = await agent.ok('leaveSeat');
      const owner_id = (await sam.ok('getMe')).id;
      expect(seat).to.deep.equal({
        id: agent.memberId,
        board,
        board_id: id,
        name: 'helper',
        owner: 'sam',
        owner_id,
        status: 'left',
        removed_at: seat.removed_at,
        removed_by: 'self',
      });
      const [left, revoked] = await last(board, 2);
      expect(left?.type).to.equal('agent.left');
      expect(left?.data).to.deep.equal({
        member_id: agent.memberId,
        name: 'helper',
        person_id: owner_id,
        owner: 'sam',
        removed_by: 'self',
      });
      expect(left?.actor).to.deep.equal({ kind: 'agent', member_id: agent.memberId, name: 'helper', owner: 'sam' });
      expect(revoked).to.deep.include({ type: 'joincode.revoked', data: { join_code_id: code }, actor: left?.actor });
      expect((await codeOf(server, code))['revoked_at']).to.be.a('number');
      expect(await ended(agent)).to.deep.equal({
        agent: 'helper',
        board,
        removed_at: seat.removed_at,
        removed_by: 'self',
      });
      expect(await sam.refused('joinBoard', { body: { board, role: 'member', name: 'helper' } })).to.equal(
        '409 name_taken',
      );
    });

    it('is told the same again under its key, and nothing else', async () => {
      const { name: board } = await newBoard(server.dana);
      const agent = await newAgent(server.dana, board);
      const first = await agent.call('leaveSeat', { key: 'gone' });
      const again = await agent.call('leaveSeat', { key: 'gone' });
      expect(again).to.include({ status: 200, text: first.text, replayed: true });
      expect(await agent.refused('leaveSeat', { key: 'another' })).to.equal('403 agent_removed');
      expect(await agent.refused('leaveSeat')).to.equal('403 agent_removed');
      expect(await agent.refused('leaveSeat', { key: 'gone', body: {} })).to.equal('403 agent_removed');
      expect(await agent.refused('ackInbox', { key: 'gone', body: { up_to: 1 } })).to.equal('403 agent_removed');
      expect(await agent.refused('getMe')).to.equal('403 agent_removed');
      expect((await last(board, 10)).filter((event) => event.type === 'agent.left')).to.have.length(1);
    });

    it('is not told again after a day, nor once its key or its board is gone', async () => {
      const leaver = async (name: string) => {
        const person = await server.person(name);
        const { name: board } = await newBoard(person);
        const agent = await newAgent(person, board);
        await agent.ok('leaveSeat', { key: 'gone' });
        return { person, board, again: async () => said(await agent.call('leaveSeat', { key: 'gone' })) };
      };
      const revoked = await leaver('rex');
      await revokeKey(server, revoked.person);
      expect(await revoked.again()).to.equal('403 agent_removed');

      const archived = await leaver('kim');
      await changeBoard(server, archived.board, { lifecycle: 'archived' });
      expect(await archived.again()).to.equal('200 ok');
      await changeBoard(server, archived.board, { lifecycle: 'deleted' });
      expect(await archived.again()).to.equal('404 board_not_found');

      const late = await leaver('lea');
      server.clock.advance(86_400_000);
      expect(await late.again()).to.equal('403 agent_removed');
    });

    it('leaves once, even if others end it at the same moment', async () => {
      const { name: board } = await newBoard(server.dana);
      const agents = await Promise.all(Array.from({ length: 6 }, () => newAgent(server.dana, board)));
      for (const agent of agents) {
        const answers = await Promise.all([agent.call('leaveSeat'), remove(server.dana, board, agent.memberId)]);
        const codes = answers.map((answer) => answer.code ?? 'ok').sort();
        expect([
          ['agent_not_found', 'ok'],
          ['agent_removed', 'ok'],
        ]).to.deep.include(codes);
      }
      const types = (await last(board, 20)).map((event) => event.type).filter((type) => type.startsWith('agent.'));
      expect(types).to.have.length(6);
    });

    it('works on an archived board, and is not for people', async () => {
      const { name: board } = await newBoard(server.dana);
      const agent = await newAgent(server.dana, board);
      await changeBoard(server, board, { lifecycle: 'archived' });
      expect(await server.dana.refused('leaveSeat')).to.equal('403 agent_token_required');
      expect(await agent.refused('leaveSeat', { body: { why: 'no' } })).to.equal('400 invalid_request');
      expect((await agent.ok('leaveSeat')).status).to.equal('left');
    });
  });

  describe('that is removed', () => {
    it('tells in what capacity: its person, a board owner, a server admin, the first that applies', async () => {
      const { name: board } = await newBoard(server.dana);
      for (const api of [sam, adm]) await putOnBoard(server, board, api);
      const cases: [Api, Agent, string][] = [
        [server.dana, await newAgent(server.dana, board), 'person'],
        [sam, await newAgent(sam, board), 'person'],
        [server.dana, await newAgent(sam, board), 'board_owner'],
        [adm, await newAgent(sam, board), 'admin'],
      ];
      for (const [api, agent, by] of cases) {
        const { body } = await remove(await newBrowser(server, api), board, agent.name);
        expect(body).to.include({ id: agent.memberId, name: agent.name, board, status: 'removed', removed_by: by });
        const [event] = await last(board);
        expect(event).to.include({ type: 'agent.removed' });
        expect(event?.data).to.include({ member_id: agent.memberId, removed_by: by });
        expect(event?.data).not.to.have.any.keys('pruned', 'disconnected_since');
        expect(event?.actor.member_id).to.equal(await memberIdOf(server, board, api));
        expect(await ended(agent)).to.include({ removed_by: by });
      }
    });

    it('is taken by its person also as a guest, and by nobody else on the board', async () => {
      const gus = await server.person('gus', 'member');
      const { name: board } = await newBoard(server.dana);
      for (const api of [sam, gus]) await putOnBoard(server, board, api);
      const [own, other] = [await newAgent(gus, board), await newAgent(sam, board)];
      await changeRole(server, gus, 'guest');
      expect(said(await remove(gus, board, other.memberId))).to.equal('403 owner_required');
      expect(said(await remove(gus, board, own.memberId))).to.equal('200 ok');
      const pam = await server.person('pam');
      expect(said(await remove(pam, board, other.memberId))).to.equal('403 not_on_board');
      expect(said(await remove(pam, board, 'nobody-here'))).to.equal('403 not_on_board');
      expect(said(await remove(other, board, other.memberId))).to.equal('403 human_token_required');
      expect(said(await remove(await newDelegation(server, sam), board, other.memberId))).to.equal('403 forbidden');
    });

    it('is not there twice: nobody, ended seats, former people and impossible names are one answer', async () => {
      const { name: board } = await newBoard(server.dana);
      await putOnBoard(server, board, sam);
      const agent = await newAgent(server.dana, board);
      const elsewhere = await newAgent(server.dana, (await newBoard(server.dana)).name);
      await remove(server.dana, board, agent.memberId);
      await sam.ok('leaveBoard', { params: { board } });
      const names = ['nobody-here', NOBODY, agent.name, agent.memberId, 'sam', elsewhere.memberId, 'No Name', '\0'];
      const answers = await Promise.all([...names, 'x'.repeat(300)].map((name) => remove(server.dana, board, name)));
      for (const { status, text } of answers) {
        expect(status).to.equal(404);
        expect(text).to.equal(answers[0]?.text);
      }
      expect(answers[0]?.code).to.equal('agent_not_found');
    });

    it('by an admin off an open board acts under their handle alone', async () => {
      const { name: board, id } = await newBoard(server.dana);
      for (const named of [board, id]) {
        const agent = await newAgent(server.dana, board);
        const { body } = await remove(adm, named, agent.name);
        expect(body).to.include({ board, name: agent.name, removed_by: 'admin' });
        const [event] = await last(board);
        expect(event?.actor).to.deep.equal({ kind: 'human', member_id: null, name: 'adm', owner: null });
      }
    });

    it('by an admin off a private board is reached by ids only, and names nothing', async () => {
      const { name: board, id } = await newBoard(server.dana, { visibility: 'private' });
      const agent = await newAgent(server.dana, board);
      const memberId = await memberIdOf(server, board, server.dana);
      expect(said(await remove(adm, board, agent.memberId))).to.equal('404 board_not_found');
      for (const member of [agent.name, memberId, 'nobody-here']) {
        const { code, text } = await remove(adm, id, member);
        expect(code).to.equal('agent_not_found');
        expect(text).not.to.include(board);
      }
      for (const api of [sam, await newAgent(sam, (await newBoard(sam)).name)]) {
        const expected = api === sam ? '404 board_not_found' : '403 human_token_required';
        expect(said(await remove(api, id, agent.memberId))).to.equal(expected);
      }
      const { status, body } = await remove(adm, id, agent.memberId, `hidden ${board}`);
      expect(status).to.equal(200);
      expect(body).to.include({ board: null, board_id: id, name: null, owner_id: (await server.dana.ok('getMe')).id });
      const [event] = await last(board);
      expect(event?.actor).to.include({ member_id: null, name: 'adm' });
      expect(event?.data).to.include({ name: agent.name, removed_by: 'admin' });

      expect((await remove(adm, id, agent.memberId, `hidden ${board}`)).replayed).to.equal(true);
      await changeRole(server, adm, 'member');
      expect(said(await remove(adm, id, agent.memberId, `hidden ${board}`))).to.equal('404 board_not_found');
      await changeRole(server, adm, 'admin');
      await changeBoard(server, board, { lifecycle: 'deleted' });
      expect(said(await remove(adm, id, agent.memberId, `hidden ${board}`))).to.equal('404 board_not_found');
    });

    it('is repeated under the key only to callers who still have the board', async () => {
      const { name: board, id } = await newBoard(server.dana, { visibility: 'private' });
      await putOnBoard(server, board, adm);
      const agent = await newAgent(adm, board);
      const first = await remove(adm, board, agent.name, `own ${board}`);
      expect(await remove(adm, board, agent.name, `own ${board}`)).to.include({ text: first.text, replayed: true });
      const second = await newAgent(adm, board);
      await remove(adm, id, second.name, `id ${board}`);
      await adm.ok('leaveBoard', { params: { board } });
      expect(said(await remove(adm, board, agent.name, `own ${board}`))).to.equal('404 board_not_found');
      expect(said(await remove(adm, id, second.name, `id ${board}`))).to.equal('404 board_not_found');
    });

    it('forgets where its session ran, and that one was there', async () => {
      const { name: board } = await newBoard(server.dana);
      const [agent, quiet] = [await newAgent(server.dana, board), await newAgent(server.dana, board)];
      await reports(server, agent, { presence: 'working', ago: 10, folder: '/home/sam' });
      for (const one of [agent, quiet]) await remove(server.dana, board, one.memberId);
      const rows = await server.db.read((tx) =>
        tx.query<Record<string, unknown>>((db) =>
          db('seat_reports').whereIn('member_id', [agent.memberId, quiet.memberId]),
        ),
      );
      expect(rows).to.have.length(1);
      expect(rows[0]).to.include({ presence: 'no_session', location_folder: null, location_session: null });
    });

    it('is braked no longer', async () => {
      const { name: board } = await newBoard(sam);
      const agent = await newAgent(sam, board);
      const params = { board, member: agent.memberId };
      const until = new Date(server.clock.now() + 60_000).toISOString();
      await sam.ok('releaseAgent', { params, body: { action: 'pause', until } });
      expect((await sam.ok('getMember', { params })).state).to.equal('braked');
      await remove(sam, board, agent.memberId);
      const ended = await sam.ok('getMember', { params });
      expect(ended).to.include({ status: 'removed', state: 'disconnected' }).and.not.to.have.property('braked');
    });

    it('in the middle of its own posts ends between two of them, and nothing of it comes after', async () => {
      const { name: board } = await newBoard(server.dana);
      await putOnBoard(server, board, sam);
      const agents = await Promise.all([newAgent(sam, board), newAgent(sam, board), newAgent(sam, board)]);
      const there = engine === 'postgres' ? await startTwin(server) : null;
      const posts = agents.flatMap((agent, n) => {
        const api = there && n % 2 === 1 ? new Api(there.url, agent.token) : agent;
        return Array.from({ length: 15 }, () => api.call('postMessage', { params: { board }, body: { body: 'busy' } }));
      });
      const [first] = agents;
      await post(server.dana, board, 'in between');
      expect(said(await remove(server.dana, board, first?.name ?? ''))).to.equal('200 ok');
      expect(said(await sam.call('leaveBoard', { params: { board } }))).to.equal('200 ok');
      const codes = (await Promise.all(posts)).map((answer) => answer.code ?? 'ok');
      expect(new Set(['ok', 'agent_removed', ...codes]).size).to.equal(2);
      const { events } = await server.dana.ok('listEvents', { params: { board }, query: { limit: 200 } });
      for (const agent of agents) {
        const end = events.findIndex(
          ({ data }) => data?.['member_id'] === agent.memberId && data['removed_by'] !== undefined,
        );
        const gone = end === -1 ? events.findIndex((event) => event.type === 'person.left') : end;
        const after = events.slice(gone + 1).filter((event) => event.actor.member_id === agent.memberId);
        expect(after).to.deep.equal([]);
      }
      expect((await boardRow(server, board)).message_count).to.equal(
        events.filter((event) => event.type === 'message.posted').length,
      );
      await there?.close();
    });
  });
});
