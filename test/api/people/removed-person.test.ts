import { expect } from 'chai';
import type { RunningServer } from '../../../src/server/serve.ts';
import { Api } from '../../support/api.ts';
import { notesAbout } from '../../support/audit.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { codeOf, everything, inConstantUse, newApproval, newCode, newInvite } from '../../support/endings.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import {
  boardRow,
  changeBoard,
  changeRole,
  memberIdOf,
  newBrowser,
  newDelegation,
  putOnBoard,
} from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';
import { until } from '../../support/until.ts';

forEachDatabase('a person removed from the server', (engine) => {
  let server: TestServer;
  let twin: RunningServer | null = null;
  let count = 0;
  before(async () => {
    server = await startTestServer(engine);
    if (engine === 'postgres') twin = await startTwin(server);
  });
  after(async () => {
    await twin?.close();
    await server.stop();
  });

  const remove = (handle: string, by = server.dana, dry_run?: boolean, key?: string) =>
    by.call('removePerson', { params: { handle }, query: dry_run === undefined ? {} : { dry_run }, key });
  const said = ({ status, code }: { status: number; code: string | undefined }) => `${status} ${code ?? 'ok'}`;
  const somebody = async (role: 'admin' | 'member' | 'guest' = 'member') => {
    const handle = `p${++count}`;
    return Object.assign(await server.person(handle, role), { handle });
  };
  const own = (api: Api, board: string, handle: string) =>
    api.ok('makeBoardOwner', { params: { board }, body: { handle } });
  const last = async (board: string, n: number, by = server.dana) =>
    (await by.ok('listEvents', { params: { board }, query: { newest: true, limit: n } })).events;
  const roles = async (board: string, by: Api) =>
    (await by.ok('listBoardPeople', { params: { board } })).people.map((one) => [one.handle, one.board_role]);

  it('is named by handle or by id, which no rename changes', async () => {
    const rob = await somebody();
    const { personId: id = '', handle } = rob;
    await rob.ok('renamePerson', { params: { handle }, body: { handle: `${handle}-x` } });
    expect(said(await remove(handle))).to.equal('404 person_not_found');
    const role = { params: { handle: id }, body: { server_role: 'admin' } } as const;
    expect((await server.dana.ok('setPersonRole', role)).person).to.include({ id, server_role: 'admin' });
    expect((await remove(id)).body.person).to.include({ id, handle: `${handle}-x` });
    for (const nobody of [id, id.replace(/.{4}$/, '0000')]) {
      expect(said(await remove(nobody))).to.equal('404 person_not_found');
      expect(await server.dana.refused('setPersonRole', { ...role, params: { handle: nobody } })).to.equal(
        '404 person_not_found',
      );
    }
    expect(said(await remove('hum_short'))).to.equal('400 invalid_request');
  });

  it('keeps nothing that works: keys, browsers, delegations, agents, codes and invites', async () => {
    const rob = await somebody();
    const { name: board } = await newBoard(server.dana);
    const memberId = await putOnBoard(server, board, rob);
    const agent = await newAgent(rob, board);
    const [browser, second] = [await newBrowser(server, rob), await newBrowser(server, rob)];
    const delegation = await newDelegation(server, rob);
    const { code } = await rob.ok('createLoginCode');
    const joins = [await newCode(server, board, memberId), await newCode(server, board, agent.memberId)];
    const [invite, used] = [await newInvite(server, rob), await newInvite(server, rob, { used_at: 1 })];
    const approval = await newApproval(server, rob);

    const { body } = await remove(rob.handle);
    expect(body).to.deep.equal({
      person: body.person,
      dry_run: false,
      keys_revoked: 1,
      browser_sessions_ended: 2,
      agents_removed: 1,
      boards_left: 1,
      owners_passed: 0,
      unreachable_boards: [],
    });
    expect(body.person).to.include({ id: rob.personId, handle: rob.handle, server_role: 'member' });
    for (const api of [rob, browser, second.bearer]) expect(await api.refused('getMe')).to.equal('401 unauthorized');
    expect(await delegation.refused('listBoards')).to.equal('401 delegation_revoked');
    expect(await agent.refused('getMe')).to.equal('403 agent_removed');
    expect(
      await server.nobody.refused('previewLoginCode', { body: { code }, headers: { origin: server.url } }),
    ).to.equal('404 login_code_invalid');
    for (const id of joins) expect((await codeOf(server, id))['revoked_at']).to.be.a('number');
    const invites = await everything(server, 'server_invites', { created_by: rob.personId });
    expect(invites.filter((row) => row['revoked_at'] !== null).map((row) => row['id'])).to.deep.equal([invite]);
    expect(invites.map((row) => row['id'])).to.include(used);
    const [key] = await everything(server, 'access_keys', { person_id: rob.personId });
    for (const [id, action] of [
      [key?.['id'], 'key.revoked'],
      [invite, 'invite.revoked'],
    ] as [string, string][]) {
      const note = (await notesAbout(server, id)).at(-1);
      expect(note).to.deep.include({ action, details: { with_person: rob.personId } });
    }
    const [request] = await everything(server, 'machine_requests', { id: approval });
    expect(request?.['expires_at']).to.be.at.most(server.clock.now());
    expect(await everything(server, 'login_codes', { person_id: rob.personId })).to.deep.equal([]);
    const [ended] = await everything(server, 'delegations', { person_id: rob.personId });
    expect(ended).to.include({ ended_by: 'person_removed' });
  });

  it('leaves every board, archived ones too, and the record tells how', async () => {
    const rob = await somebody();
    const boards = [await newBoard(server.dana), await newBoard(server.dana), await newBoard(server.dana)];
    const [first, archived, gone] = boards.map((board) => board.name) as [string, string, string];
    for (const name of [first, archived, gone]) await putOnBoard(server, name, rob);
    const agents = [await newAgent(rob, first), await newAgent(rob, first)];
    await newAgent(rob, gone);
    const { id } = await post(rob, first, 'what I wrote');
    const memberId = await memberIdOf(server, first, rob);
    const code = await newCode(server, first, memberId);
    await changeBoard(server, archived, { lifecycle: 'archived' });
    await changeBoard(server, gone, { lifecycle: 'deleted' });
    const { body } = await remove(rob.handle);
    expect(body).to.include({ agents_removed: 2, boards_left: 2, owners_passed: 0 });

    const [removed, revoked] = await last(first, 2);
    expect(removed).to.include({ type: 'person.removed' });
    expect(removed?.data).to.deep.equal({
      member_id: memberId,
      person_id: rob.personId,
      name: rob.handle,
      agents: agents.map((agent) => agent.memberId),
      from_server: true,
    });
    expect(removed?.actor.member_id).to.equal(await memberIdOf(server, first, server.dana));
    expect(revoked).to.deep.include({ type: 'joincode.revoked', data: { join_code_id: code }, actor: removed?.actor });
    expect((await last(archived, 1))[0]).to.include({ type: 'person.removed' });
    const { members } = await server.dana.ok('listMembers', { params: { board: first }, query: { removed: true } });
    const told = members.filter((member) => member.kind === 'agent').map((member) => member.removed_by);
    expect(told).to.deep.equal(['admin', 'admin']);
    expect((await server.dana.ok('getMessage', { params: { message: id } })).message.from.name).to.equal(rob.handle);
    expect(JSON.stringify(await server.dana.ok('listPeople'))).not.to.include(rob.personId);
  });

  it("passes a board on to the non-guest who has been there longest, by nobody's hand", async () => {
    const [rob, heir, late, gus] = [await somebody(), await somebody(), await somebody(), await somebody('guest')];
    const { name: board } = await newBoard(rob, { visibility: 'private' });
    for (const api of [gus, late, heir]) {
      await putOnBoard(server, board, api);
      server.clock.advance(1_000);
    }
    // Whoever comes back has been there since they came back.
    await late.ok('leaveBoard', { params: { board } });
    await rob.ok('addBoardPerson', { params: { board }, body: { handle: late.handle } });
    const agent = await newAgent(rob, board);
    const { body } = await remove(rob.handle);
    expect(body).to.deep.include({ owners_passed: 1, boards_left: 1, unreachable_boards: [] });
    const [removed, made] = await last(board, 2, heir);
    expect(removed?.type).to.equal('person.removed');
    expect(removed?.actor).to.deep.include({ kind: 'human', member_id: null, owner: null });
    expect(made).to.deep.include({
      type: 'person.made_owner',
      actor: { kind: 'system', member_id: null, name: null, owner: null },
      data: {
        member_id: await memberOf(board, heir),
        person_id: heir.personId,
        name: heir.handle,
        reason: 'owner_removed_from_server',
      },
    });
    expect(await roles(board, heir)).to.have.deep.members([
      [gus.handle, 'member'],
      [late.handle, 'member'],
      [heir.handle, 'owner'],
    ]);
    expect(await agent.refused('getMe')).to.equal('403 agent_removed');
  });

  it('passes nothing on where another owner stays, and to nobody where only guests are', async () => {
    const [rob, pam, gus] = [await somebody(), await somebody(), await somebody('guest')];
    const [shared, guests, alone, open] = [
      await newBoard(rob, { visibility: 'private' }),
      await newBoard(rob, { visibility: 'private' }),
      await newBoard(rob, { visibility: 'private' }),
      await newBoard(rob),
    ];
    await putOnBoard(server, shared.name, pam);
    await own(rob, shared.name, pam.handle);
    await putOnBoard(server, guests.name, gus);
    const { body } = await remove(rob.handle);
    expect(body).to.deep.include({ owners_passed: 0, boards_left: 4, unreachable_boards: [alone.id] });
    expect(await roles(guests.name, gus)).to.deep.equal([[gus.handle, 'member']]);
    // On the open one the next who comes becomes its owner.
    const back = await pam.ok('addBoardPerson', { params: { board: open.name }, body: { handle: pam.handle } });
    expect(back.board_role).to.equal('owner');
    expect((await last(open.name, 1, pam))[0]?.data).to.include({ reason: 'board_had_no_owner' });
  });

  it('can be tried: the same counts as the later removal, and nothing changed in between', async () => {
    const rob = await somebody();
    const pam = await somebody();
    const [{ name: board }, hidden] = [await newBoard(rob), await newBoard(rob, { visibility: 'private' })];
    await putOnBoard(server, board, pam);
    const agent = await newAgent(rob, board);
    await newBrowser(server, rob);
    const stream = await TestStream.open(rob);
    await stream.frame((frame) => frame.event === 'ready');
    const before = await everything(server, 'events', {});
    const tried = await remove(rob.handle, server.dana, true, 'try');
    const twice = await remove(rob.handle, server.dana, true, 'try');
    expect(tried.body).to.deep.include({ dry_run: true, agents_removed: 1, boards_left: 2, owners_passed: 1 });
    expect(tried.body.unreachable_boards).to.deep.equal([hidden.id]);
    expect(twice).to.include({ text: tried.text, replayed: false });
    expect(await everything(server, 'events', {})).to.have.length(before.length);
    expect(await notesAbout(server, rob.personId ?? '')).to.deep.equal([]);
    await agent.ok('getMe');
    await rob.ok('createBoard', { body: { name: `later-${rob.handle}` } });
    await rob.ok('addBoardPerson', { params: { board: `later-${rob.handle}` }, body: { handle: pam.handle } });
    await rob.ok('makeBoardOwner', { params: { board: `later-${rob.handle}` }, body: { handle: pam.handle } });
    await rob.ok('leaveBoard', { params: { board: `later-${rob.handle}` } });
    expect(stream.ended).to.equal(false);

    const { body } = await remove(rob.handle);
    expect(body).to.deep.equal({ ...tried.body, dry_run: false });
    expect((await stream.frame((frame) => frame.event === 'end')).data).to.deep.equal({ reason: 'credential_ended' });
  });

  it('keeps the handle for good, and is noted for the operator', async () => {
    const rob = await somebody();
    await remove(rob.handle);
    expect(said(await remove(rob.handle))).to.equal('404 person_not_found');
    expect(await everything(server, 'handle_reservations', { handle: rob.handle })).to.deep.equal([
      { handle: rob.handle, person_id: rob.personId },
    ]);
    const pam = await somebody();
    const rename = { params: { handle: pam.handle }, body: { handle: rob.handle } };
    expect(await pam.refused('renamePerson', rename)).to.equal('409 handle_taken');
    const [note] = await notesAbout(server, rob.personId ?? '');
    expect(note).to.include({ action: 'person.removed', actor_person_id: (await server.dana.ok('getMe')).id });
    expect(note?.details).to.include({ keys_revoked: 1, boards_left: 0 });
  });

  it('is removed by an admin with their own key and by nobody else; the role is read before the handle', async () => {
    const [rob, pam, adm] = [await somebody(), await somebody(), await somebody('admin')];
    const { name: board } = await newBoard(pam);
    for (const handle of [rob.handle, 'nobody-here']) {
      expect(said(await remove(handle, pam))).to.equal('403 server_admin_required');
      expect(said(await remove(handle, await newBrowser(server, adm)))).to.equal('403 human_token_required');
      expect(said(await remove(handle, await newAgent(pam, board)))).to.equal('403 human_token_required');
      expect(said(await remove(handle, await newDelegation(server, adm)))).to.equal('403 forbidden');
    }
    expect(said(await remove('nobody-here', adm))).to.equal('404 person_not_found');
    expect(said(await remove('Not-A-Handle', adm))).to.equal('400 invalid_request');
    expect(said(await remove(rob.handle, await somebody('guest')))).to.equal('403 server_admin_required');
    expect(said(await remove(rob.handle, adm))).to.equal('200 ok');
  });

  it('is told again under the key only to an admin', async () => {
    const [rob, adm] = [await somebody(), await somebody('admin')];
    const first = await remove(rob.handle, adm, undefined, 'once');
    expect(await remove(rob.handle, adm, undefined, 'once')).to.include({ text: first.text, replayed: true });
    await changeRole(server, adm, 'member');
    expect(said(await remove(rob.handle, adm, undefined, 'once'))).to.equal('403 server_admin_required');
  });

  it('may be the admin who asks, who is answered all the same', async () => {
    const adm = await somebody('admin');
    const { name: board } = await newBoard(adm);
    const { name: handle } = await server.dana.ok('getMe');
    await adm.ok('addBoardPerson', { params: { board }, body: { handle } });
    const memberId = await memberIdOf(server, board, adm);
    const { status, body } = await remove(adm.handle, adm, undefined, 'me');
    expect(status).to.equal(200);
    expect(body).to.include({ owners_passed: 1, boards_left: 1 });
    const [removed] = await last(board, 2);
    expect(removed?.actor.member_id).to.equal(memberId);
    expect(said(await remove(adm.handle, adm, undefined, 'me'))).to.equal('401 unauthorized');
  });

  it(`ends what is open within a second${engine === 'postgres' ? ', on another server process too' : ''}`, async () => {
    for (const url of [server.url, ...(twin ? [twin.url] : [])]) {
      const rob = await somebody();
      const there = new Api(url, rob.token, rob.personId);
      const { name: board } = await newBoard(server.dana, { visibility: 'private' });
      await putOnBoard(server, board, rob);
      const root = await post(server.dana, board, 'root');
      const agent = await newAgent(rob, board);
      await agent.ok('ackInbox', { body: { up_to: root.seq } });
      const streams = [await TestStream.open(there), await TestStream.open(there, { board })];
      for (const stream of streams) await stream.frame((frame) => frame.event === 'ready');
      const before = server.clock.waiting(600_000);
      const waits = [
        new Api(url, agent.token).call('readInbox', { query: { wait: 600 } }),
        there.call('listReplies', { params: { message: root.id }, query: { wait: 600 } }),
      ] as const;
      for (const wait of waits) wait.catch(() => {});
      await until(() => server.clock.waiting(600_000) === before + 2, 'both waits sleep');
      const release = server.clock.holdBack(1_000);
      await remove(rob.handle);
      expect((await waits[0]).code).to.equal('agent_removed');
      expect((await waits[1]).code).to.equal('unauthorized');
      for (const stream of streams) {
        const end = await stream.frame((frame) => frame.event === 'end');
        expect(end.data).to.deep.equal({ reason: 'credential_ended' });
      }
      release();
    }
  });

  it('comes onto no board that somebody adds them to at the same moment', async () => {
    for (let n = 0; n < 5; n++) {
      const rob = await somebody();
      const { name: board } = await newBoard(server.dana);
      const add = server.dana.call('addBoardPerson', { params: { board }, body: { handle: rob.handle } });
      const [added, removed] = await Promise.all([add, remove(rob.handle)]);
      expect(said(removed)).to.equal('200 ok');
      expect(removed.body.boards_left).to.equal(added.status === 201 ? 1 : 0);
      expect((await roles(board, server.dana)).map(([handle]) => handle)).not.to.include(rob.handle);
    }
  });

  const at = (api: Api, n: number) => (twin && n % 2 === 1 ? new Api(twin.url, api.token, api.personId) : api);

  it('busy with posting and joining at that moment, with their agents, leaves nothing behind', async () => {
    const rob = await somebody();
    const { name: board } = await newBoard(server.dana);
    await putOnBoard(server, board, rob);
    const agents = await Promise.all([newAgent(rob, board), newAgent(rob, board)]);
    const busy = Array.from({ length: 24 }, (_unused, n) => [
      at(rob, n).call('postMessage', { params: { board }, body: { body: 'mine' } }),
      at(agents[n % 2] as Api, n).call('postMessage', { params: { board }, body: { body: 'its' } }),
      ...(n % 8 === 0 ? [at(rob, n).call('joinBoard', { body: { board, role: 'member' } })] : []),
    ]).flat();
    expect(said(await remove(rob.handle))).to.equal('200 ok');
    const codes = new Set((await Promise.all<{ code: string | undefined }>(busy)).map((answer) => answer.code ?? 'ok'));
    for (const code of codes) expect(['ok', 'unauthorized', 'agent_removed']).to.include(code);
    const events = await everything(server, 'events', {
      board_id: (await server.dana.ok('getBoard', { params: { board } })).id,
    });
    const end = events.find((event) => event['type'] === 'person.removed');
    const later = events.filter((event) => Number(event['seq']) > Number(end?.['seq']));
    expect(later).to.deep.equal([]);
    const left = await everything(server, 'members', { person_id: rob.personId, status: 'active' });
    expect(left).to.deep.equal([]);
  });

  it('goes though writes by their keys, browsers and agents never pause', async () => {
    const rob = await somebody('admin');
    const { name: board } = await newBoard(server.dana);
    await putOnBoard(server, board, rob);
    const clients = [
      rob,
      (await newBrowser(server, rob)).bearer,
      await newAgent(rob, board),
      await newAgent(rob, board),
    ];
    const use = await inConstantUse(
      clients.flatMap((api) => [api, at(api, 1)]),
      board,
    );
    const params = { handle: rob.handle };
    expect(said(await server.dana.call('setPersonRole', { params, body: { server_role: 'member' } }))).to.equal(
      '200 ok',
    );
    expect(said(await remove(rob.handle))).to.equal('200 ok');
    await use.ended;
    expect((await boardRow(server, board)).message_count).to.equal(use.posted);
    expect((await last(board, 1))[0]).to.include({ type: 'person.removed' });
  });

  async function memberOf(board: string, api: Api): Promise<string> {
    const { people } = await api.ok('listBoardPeople', { params: { board } });
    return people.find((one) => one.id === api.personId)?.member_id ?? '';
  }

  describe('of the last admins', () => {
    let alone: TestServer;
    let other: RunningServer | null = null;
    before(async () => {
      alone = await startTestServer(engine);
      if (engine === 'postgres') other = await startTwin(alone);
    });
    after(async () => {
      await other?.close();
      await alone.stop();
    });

    it('stays: neither themselves nor when only tried', async () => {
      const me = await alone.dana.ok('getMe');
      for (const dry_run of [true, false]) {
        const answer = await alone.dana.call('removePerson', { params: { handle: me.name }, query: { dry_run } });
        expect(said(answer)).to.equal('409 last_admin');
      }
    });

    it('is one left, even if admins remove or demote each other at the same moment', async () => {
      let admin: Api = alone.dana;
      for (let n = 0; n < 6; n++) {
        const me = await admin.ok('getMe');
        const second = await alone.person(`adm-${n}`, 'admin');
        const there = other && n % 2 === 1 ? new Api(other.url, second.token, second.personId) : second;
        const answers = await Promise.all<{ status: number; code: string | undefined }>([
          admin.call('removePerson', { params: { handle: `adm-${n}` } }),
          n % 3 === 0
            ? there.call('setPersonRole', { params: { handle: me.name }, body: { server_role: 'member' } })
            : there.call('removePerson', { params: { handle: n % 3 === 1 ? me.name : `adm-${n}` } }),
        ]);
        const outcomes = answers.map(said).sort();
        expect(outcomes[0]).to.equal('200 ok');
        expect(['401 unauthorized', '403 server_admin_required', '404 person_not_found', '409 last_admin']).to.include(
          outcomes[1],
        );
        const left = await everything(alone, 'people', { server_role: 'admin', removed_at: null });
        expect(left).to.have.length(1);
        admin = left[0]?.['id'] === second.personId ? second : admin;
      }
    });
  });
});
