import { expect } from 'chai';
import { type Api, type Call, detailsOf } from '../../support/api.ts';
import { newAgent, newBoard, newCode } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, putOnBoard, removePerson, setRoles } from '../../support/state.ts';

const DAY = 86_400_000;

forEachDatabase('a join code', (engine) => {
  let server: TestServer;
  let pam: Api;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
  });
  after(() => server.stop());

  /** A board of dana with pam on it. */
  const boardWithPam = async (body = {}) => {
    const { name } = await newBoard(server.dana, { template: 'writer-reviewer', ...body });
    await putOnBoard(server, name, pam);
    return name;
  };
  const make = (board: string, body: Record<string, unknown> = {}): Call => ({
    params: { board },
    body: { role: 'member', ...body },
  });
  const list = async (from: Api, board: string, query = {}) =>
    (await from.ok('listJoinCodes', { params: { board }, query })).join_codes;

  it('is shown once, with the line to pass on; the server keeps a digest', async () => {
    const board = await boardWithPam();
    const { status, body, headers } = await pam.call('createJoinCode', make(board, { role: 'reviewer' }));
    expect([status, headers.get('cache-control')]).to.deep.equal([201, 'no-store']);
    const { port } = new URL(server.url);
    expect(body.join_line).to.equal(
      `Join service board ${board} on localhost:${port} as reviewer with code ${body.code}`,
    );
    expect(body).to.deep.include({ kind: 'pairing', guest: null, board, role: 'reviewer', revoked_at: null, uses: 0 });
    expect(body).to.deep.include({ state: 'working', last_used_at: null });
    expect(body.created_by).to.include({ name: 'pam', kind: 'human' });
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).to.equal(DAY);
    const [row] = await server.db.read((tx) => tx.query((db) => db('join_codes').where('id', body.id)));
    expect(JSON.stringify(row)).not.to.include(body.code);
    const { code, join_line, ...listed } = body;
    expect(await list(pam, board)).to.deep.equal([listed]);
    const { events } = await pam.ok('listEvents', { params: { board }, query: { type: 'joincode.created' } });
    expect(events.map(({ data }) => data)).to.deep.equal([
      { join_code_id: body.id, role: 'reviewer', expires_at: body.expires_at },
    ]);
    expect(JSON.stringify(events)).not.to.include(code);
    expect(server.log.join('')).not.to.include(code);
  });

  it('is never kept for a repeat: the same request makes another', async () => {
    const board = await boardWithPam();
    const call = { ...make(board), key: 'a code' };
    const [first, second] = [await pam.call('createJoinCode', call), await pam.call('createJoinCode', call)];
    expect([second.replayed, second.body.id === first.body.id]).to.deep.equal([false, false]);
    expect(await list(pam, board)).to.have.length(2);
  });

  it('takes a role and a time between a minute and a week', async () => {
    const board = await boardWithPam();
    for (const body of [
      { ttl_seconds: 59 },
      { ttl_seconds: 604_801 },
      { ttl_seconds: 60.5 },
      { role: 'No Role' },
      { guest: 'Not A Handle' },
      { extra: true },
    ]) {
      expect(await pam.refused('createJoinCode', make(board, body)), JSON.stringify(body)).to.equal(
        '400 invalid_request',
      );
    }
    for (const ttl_seconds of [60, 604_800]) await newCode(pam, board, { ttl_seconds });
    const refused = await pam.call('createJoinCode', make(board, { role: 'nobody' }));
    expect([refused.status, refused.code]).to.deep.equal([422, 'role_not_found']);
    expect(detailsOf(refused)?.['choices']).to.have.members(['member', 'writer', 'reviewer']);
  });

  it('is made by people on the board and by agents whose role may invite, in the order of the contract', async () => {
    const board = await boardWithPam();
    const [out, gus] = [await server.person('out'), await server.person('gus', 'guest')];
    await putOnBoard(server, board, gus);
    const guestsAgent = await newAgent(pam, board);
    const helper = await newAgent(pam, board);
    const code = await newCode(helper, board);
    expect(code.created_by).to.include({ name: helper.name, kind: 'agent' });
    expect(await out.refused('createJoinCode', make(board))).to.equal('403 not_on_board');
    expect(await gus.refused('createJoinCode', make(board))).to.equal('403 guest_not_allowed');
    await server.db.write((tx) =>
      tx.change((db) => db('members').where('id', guestsAgent.memberId).update({ person_id: gus.personId })),
    );
    expect(await guestsAgent.refused('createJoinCode', make(board))).to.equal('403 guest_not_allowed');
    expect(await helper.refused('createJoinCode', make('nowhere', { guest: 'zed' }))).to.equal(
      '403 human_token_required',
    );
    await setRoles(server, board, { member: { can: ['post'] } });
    const refused = await helper.call('createJoinCode', make(board));
    expect([refused.code, detailsOf(refused)]).to.deep.equal(['forbidden', { permission: 'invite' }]);
    expect(await helper.refused('listJoinCodes', { params: { board } })).to.equal('403 forbidden');
    await changeBoard(server, board, { lifecycle: 'archived' });
    expect(await pam.refused('createJoinCode', make(board, { role: 'nobody' }))).to.equal('409 board_archived');
    expect(await gus.refused('createJoinCode', make(board))).to.equal('403 guest_not_allowed');
  });

  it('for a guest takes a handle that is free, or that of a guest who is not on the board', async () => {
    const board = await boardWithPam();
    const ged = await server.person('ged', 'guest');
    const fresh = await newCode(pam, board, { guest: 'zoe' });
    expect(fresh).to.include({ kind: 'guest', guest: 'zoe' });
    expect(fresh.join_line).to.include(' as guest with code ');
    const bound = await newCode(pam, board, { guest: 'ged' });
    const { events } = await pam.ok('listEvents', { params: { board }, query: { type: 'joincode.created' } });
    expect(events.map(({ data }) => data)).to.deep.equal([
      {
        join_code_id: fresh.id,
        role: 'member',
        expires_at: fresh.expires_at,
        kind: 'guest',
        guest: 'zoe',
        guest_id: null,
      },
      {
        join_code_id: bound.id,
        role: 'member',
        expires_at: bound.expires_at,
        kind: 'guest',
        guest: 'ged',
        guest_id: ged.personId,
      },
    ]);
    await server.db.write((tx) =>
      tx.change((db) => db('handle_reservations').insert({ handle: 'was-once', person_id: ged.personId })),
    );
    for (const guest of ['pam', 'was-once', 'system']) {
      expect(await pam.refused('createJoinCode', make(board, { guest })), guest).to.equal('409 handle_taken');
    }
    await putOnBoard(server, board, ged);
    expect(await pam.refused('createJoinCode', make(board, { guest: 'ged' }))).to.equal('409 already_on_board');
  });

  it('is listed newest first, to people all of them, to an agent its own', async () => {
    const board = await boardWithPam();
    const helper = await newAgent(pam, board);
    const made = [];
    for (const from of [pam, helper, server.dana, helper, pam]) {
      made.unshift((await newCode(from, board)).id);
      server.clock.advance(5);
    }
    expect((await list(server.dana, board)).map(({ id }) => id)).to.deep.equal(made);
    expect((await list(helper, board)).map(({ id }) => id)).to.deep.equal([made[1], made[3]]);
    const params = { board };
    const first = await pam.ok('listJoinCodes', { params, query: { limit: 2 } });
    expect([first.join_codes.map(({ id }) => id), first.next_after]).to.deep.equal([made.slice(0, 2), made[1]]);
    const rest = await pam.ok('listJoinCodes', { params, query: { limit: 3, after: first.next_after ?? '' } });
    expect([rest.join_codes.map(({ id }) => id), rest.next_after]).to.deep.equal([made.slice(2), null]);
    const gil = await server.person('gil', 'guest');
    await putOnBoard(server, board, gil);
    expect(await gil.refused('listJoinCodes', { params })).to.equal('403 guest_not_allowed');
    for (const [name, value] of Object.entries({ limit: 201, state: 'used', after: 'x' })) {
      expect(await pam.refused('listJoinCodes', { params, query: { [name]: value } })).to.equal('400 invalid_request');
    }
  });

  it('is revoked once, by callers with the right, on an archived board too', async () => {
    const board = await boardWithPam();
    const [helper, other] = [await newAgent(pam, board), await newAgent(pam, board)];
    const [own, pams] = [await newCode(helper, board), await newCode(pam, board)];
    const call = (code: { id: string }, more = {}) => ({ params: { board, code_id: code.id }, ...more });
    expect(await other.refused('revokeJoinCode', call(own))).to.equal('403 forbidden');
    expect(await helper.refused('revokeJoinCode', call(pams))).to.equal('403 forbidden');
    expect(await pam.refused('revokeJoinCode', call({ id: 'jc_01K5A0000000000000000000J1' }))).to.equal(
      '404 join_code_not_found',
    );
    const elsewhere = await newCode(server.dana, (await newBoard(server.dana)).name);
    expect(await pam.refused('revokeJoinCode', call(elsewhere))).to.equal('404 join_code_not_found');
    expect(await pam.refused('revokeJoinCode', call({ id: 'x' }))).to.equal('400 invalid_request');
    const revoked = await helper.call('revokeJoinCode', call(own, { key: 'revoke' }));
    expect(revoked.body).to.deep.include({ id: own.id, state: 'revoked' });
    expect((await helper.call('revokeJoinCode', call(own, { key: 'revoke' }))).replayed).to.equal(true);
    server.clock.advance(1_000);
    expect(await pam.ok('revokeJoinCode', call(own))).to.deep.equal(revoked.body);
    await changeBoard(server, board, { lifecycle: 'archived' });
    expect(await server.dana.ok('revokeJoinCode', call(pams))).to.include({ state: 'revoked' });
    const { events } = await pam.ok('listEvents', { params: { board }, query: { type: 'joincode.revoked' } });
    expect(events.map(({ data, actor }) => [data, actor.name])).to.deep.equal([
      [{ join_code_id: own.id }, helper.name],
      [{ join_code_id: pams.id }, (await server.dana.ok('getMe')).name],
    ]);
    expect(await pam.refused('joinBoard', { body: { code: own.code } })).to.equal('404 join_code_invalid');
  });

  it('shows how it ended, for 30 days', async () => {
    const board = await boardWithPam();
    const short = await newCode(pam, board, { ttl_seconds: 60 });
    const revoked = await newCode(pam, board, { ttl_seconds: 604_800 });
    const [taken, gone] = [await newCode(pam, board, { guest: 'later' }), await newCode(pam, board)];
    const lou = await server.person('lou', 'guest');
    const bound = await newCode(pam, board, { guest: 'lou' });
    await pam.ok('revokeJoinCode', { params: { board, code_id: revoked.id } });
    await server.person('later');
    await removePerson(server, lou);
    server.clock.advance(60_000);
    const states = async () => new Map((await list(pam, board, { state: 'all' })).map(({ id, state }) => [id, state]));
    expect([...(await states()).entries()]).to.have.deep.members([
      [short.id, 'expired'],
      [revoked.id, 'revoked'],
      [taken.id, 'expired'],
      [bound.id, 'expired'],
      [gone.id, 'working'],
    ]);
    expect((await list(pam, board)).map(({ id }) => id)).to.deep.equal([gone.id]);
    server.clock.advance(30 * DAY - 90_000);
    expect([...(await states()).keys()]).to.include.members([short.id, revoked.id]);
    server.clock.advance(90_000);
    expect([...(await states()).keys()]).to.have.members([taken.id, bound.id, gone.id]);
  });

  it('of an agent is shown as ended while the role of the agent may make none, as nobody joins with it', async () => {
    const board = await boardWithPam();
    const agent = await newAgent(pam, board);
    const code = await newCode(agent, board);
    const { roles } = await pam.ok('getBoard', { params: { board } });
    const join = () => pam.call('joinBoard', { body: { code: code.code } });
    const shown = async () => (await list(pam, board, { state: 'all' })).map(({ state }) => state);
    const { can, ...member } = roles['member']!;
    await setRoles(server, board, { ...roles, member: { ...member, can: can.filter((one) => one !== 'invite') } });
    expect([(await join()).code, await shown(), await list(pam, board)]).to.deep.equal([
      'join_code_invalid',
      ['expired'],
      [],
    ]);
    await setRoles(server, board, roles);
    expect([await shown(), (await join()).status]).to.deep.equal([['working'], 201]);
  });

  it('is one of at most 200 working ones of its board', async () => {
    const board = await boardWithPam();
    const codes = await Promise.all(Array.from({ length: 199 }, () => newCode(pam, board)));
    const last = await Promise.all([1, 2, 3].map(() => pam.call('createJoinCode', make(board))));
    expect(last.map(({ status }) => status).sort()).to.deep.equal([201, 409, 409]);
    const refused = last.find(({ status }) => status === 409);
    expect([refused?.code, refused && detailsOf(refused)?.['limit']]).to.deep.equal(['limit_reached', 200]);
    await pam.ok('revokeJoinCode', { params: { board, code_id: codes[0]?.id ?? '' } });
    await newCode(pam, board);
  });

  it('does not count towards the limit once nobody joins with it', async () => {
    const board = await boardWithPam();
    const agent = await newAgent(pam, board);
    const mia = await server.person('mia', 'guest');
    for (const [from, body] of [
      [pam, { guest: 'ends-a' }],
      [pam, { guest: 'mia' }],
      [agent, {}],
    ] as const)
      await newCode(from, board, body);
    await Promise.all(Array.from({ length: 197 }, () => newCode(pam, board)));
    expect(await pam.refused('createJoinCode', make(board))).to.equal('409 limit_reached');
    const { roles } = await pam.ok('getBoard', { params: { board } });
    await server.person('ends-a');
    await removePerson(server, mia);
    await setRoles(server, board, { ...roles, member: { ...roles['member'], can: [] } });
    for (let n = 0; n < 3; n++) await newCode(pam, board);
    expect(await pam.refused('createJoinCode', make(board))).to.equal('409 limit_reached');
    expect(await list(pam, board, { limit: 200 })).to.have.length(200);
  });
});
