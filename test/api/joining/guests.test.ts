import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { RunningServer } from '../../../src/server/serve.ts';
import { Api, type Call, detailsOf } from '../../support/api.ts';
import { newAgent, newBoard, newCode, newDelegation, post } from '../../support/cast.ts';
import { changedAndRefused } from '../../support/counting.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { changeBoard, changeKey, endMember, memberIdOf, putOnBoard, removePerson } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';

forEachDatabase('coming as a guest', (engine) => {
  let server: TestServer;
  let twin: RunningServer | null;
  let guests = 0;
  before(async () => {
    server = await startTestServer(engine);
    twin = engine === 'postgres' ? await startTwin(server) : null;
  });
  after(async () => {
    await twin?.close();
    await server.stop();
  });

  const newHandle = () => `guest-${++guests}`;
  const newToken = () => `abh_${randomBytes(32).toString('base64url')}`;
  const ask = (code: string, more: Record<string, unknown> = {}, from = server.nobody) =>
    from.call('joinAsGuest', { body: { code, key_name: 'laptop', ...more } });
  const refusal = async (code: string, more = {}) => {
    const { status, code: error } = await ask(code, more);
    return `${status} ${error}`;
  };
  const invited = async (body: Record<string, unknown> = {}) => {
    const { name: board } = await newBoard(server.dana, { visibility: 'private' });
    const handle = newHandle();
    return { handle, ...(await newCode(server.dana, board, { guest: handle, ...body })) };
  };

  it('makes person, key, membership and agent at once, and uses the code up', async () => {
    const { board, handle, code, id } = await invited();
    const { status, body, headers } = await ask(code, { name: 'helper', harness: 'codex' });
    expect([status, headers.get('cache-control')]).to.deep.equal([201, 'no-store']);
    expect(body).to.have.all.keys('server_id', 'person', 'key', 'agent', 'token', 'board');
    expect(body.server_id).to.equal((await server.nobody.ok('getInfo')).server_id);
    expect(body.person).to.include({ handle, server_role: 'guest', display_name: null });
    expect(body.key).to.include({ name: 'laptop', origin: 'guest_code', idle_expiry_seconds: 7_776_000 });
    expect(body.key).to.include({ state: 'working', agent_seats: 1, parent_key_id: null });
    expect(body.agent).to.include({
      name: 'helper',
      owner: handle,
      harness: 'codex',
      role: 'member',
      can_remove: true,
    });
    expect(body.board).to.include({ name: board, on_board: true, people_count: 2, agent_count: 1, unread: 0 });
    const [person, agent] = [new Api(server.url, body.key.token), new Api(server.url, body.token)];
    expect((await person.ok('getMe')).name).to.equal(handle);
    expect((await agent.ok('getMe')).owner).to.equal(handle);
    const { events } = await server.dana.ok('listEvents', {
      params: { board },
      query: { type: 'member.joined', after: 2 },
    });
    expect(events.map(({ data }) => data)).to.deep.equal([
      {
        member_id: events[0]?.actor.member_id,
        name: handle,
        kind: 'human',
        role: null,
        owner: null,
        owner_id: null,
        harness: null,
        access: 'member',
        join_code_id: id,
        guest: true,
        person_id: body.person.id,
      },
      {
        member_id: body.agent.id,
        name: 'helper',
        kind: 'agent',
        role: 'member',
        owner: handle,
        owner_id: body.person.id,
        harness: 'codex',
        access: null,
        join_code_id: id,
      },
    ]);
    expect(events.map(({ actor }) => actor.name)).to.deep.equal([handle, handle]);
    expect(await refusal(code)).to.equal('404 join_code_invalid');
    const { join_codes } = await server.dana.ok('listJoinCodes', { params: { board }, query: { state: 'all' } });
    expect(join_codes[0]).to.include({ id, state: 'used', uses: 1, guest: handle });
    const audited = await server.db.read((tx) =>
      tx.query<Record<string, unknown>>((db) => db('server_audit').where('target_id', body.key.id)),
    );
    expect(audited).to.have.length(1);
    expect(JSON.stringify(audited)).not.to.include(body.key.token).and.not.to.include(code);
  });

  it('reaches that board and nothing else of the server', async () => {
    const { board, code } = await invited();
    const { name: open } = await newBoard(server.dana);
    const secret = await post(server.dana, open, 'not for guests');
    const { body } = await ask(code);
    const person = new Api(server.url, body.key.token);
    const agent = new Api(server.url, body.token);
    for (const api of [person, agent]) {
      const { boards } = await api.ok('listBoards', { query: { all: true, lifecycle: 'all' } });
      expect(boards.map(({ name }) => name)).to.deep.equal([board]);
      expect(await api.refused('getBoard', { params: { board: open } })).to.equal('404 board_not_found');
      expect(await api.refused('getMessage', { params: { message: secret.id } })).to.equal('404 message_not_found');
      expect(await api.refused('createJoinCode', { params: { board }, body: { role: 'member' } })).to.equal(
        '403 guest_not_allowed',
      );
      await post(api, board, 'here I am');
    }
    expect(await person.refused('createBoard', { body: {} })).to.equal('403 guest_not_allowed');
    expect(await person.refused('joinBoard', { body: { board, role: 'member' } })).to.equal('403 guest_not_allowed');
    expect(await person.refused('joinBoard', { body: { board: open, role: 'member' } })).to.equal(
      '404 board_not_found',
    );
    const delegation = await newDelegation(person);
    expect((await delegation.ok('listBoards')).boards.map(({ name }) => name)).to.deep.equal([board]);
    expect(await delegation.refused('joinBoard', { body: { board, session: 'codex:1' } })).to.equal(
      '403 guest_not_allowed',
    );
  });

  it('is one 404 for every code that brings no new guest', async () => {
    const { board, code: usable } = await invited();
    const old = await server.person('old-guest', 'guest');
    const pairing = await newCode(server.dana, board);
    const bound = await newCode(server.dana, board, { guest: 'old-guest' });
    const revoked = await invited();
    await server.dana.ok('revokeJoinCode', { params: { board: revoked.board, code_id: revoked.id } });
    const taken = await invited();
    await server.person(taken.handle);
    const pam = await server.person(newHandle());
    await putOnBoard(server, board, pam);
    const orphan = await newCode(pam, board, { guest: newHandle() });
    await endMember(server, await memberIdOf(server, board, pam), 'left');
    const gone = await invited();
    await changeBoard(server, gone.board, { lifecycle: 'deleted' });
    const used = await invited();
    await ask(used.code);
    const short = await invited({ ttl_seconds: 60 });
    server.clock.advance(60_000);
    const texts = new Set<string>();
    for (const { code } of [pairing, bound, revoked, taken, orphan, gone, used, short, { code: '000-000' }]) {
      const { status, text } = await ask(code);
      expect(status).to.equal(404);
      texts.add(text);
    }
    expect([...texts]).to.have.length(1);
    expect((await ask(usable)).status).to.equal(201);
    expect(await refusal((await invited()).code.slice(0, 5))).to.equal('404 join_code_invalid');
    expect((await old.call('joinBoard', { body: { code: bound.code } })).status).to.equal(201);
  });

  it('leaves the code as it was when the board rests or the wish cannot be met', async () => {
    const { board, code, handle } = await invited();
    const before = async () => (await server.dana.ok('getBoard', { params: { board } })).head_seq;
    await changeBoard(server, board, { lifecycle: 'archived' });
    const archived = await ask(code);
    expect([archived.status, archived.code]).to.deep.equal([409, 'board_archived']);
    expect(archived.text).not.to.include(board);
    await changeBoard(server, board, { lifecycle: 'active' });
    const head = await before();
    const taken = await newAgent(server.dana, board, { name: 'taken' });
    const changed = await changedAndRefused(server, async () => {
      for (const name of [taken.name, handle]) expect(await refusal(code, { name }), name).to.equal('409 name_taken');
    });
    expect(changed).to.equal(0);
    const spent = server.dana.token ?? '';
    const bad = [
      { key_name: 'Not A Name' },
      { extra: 1 },
      { client_token: 'abh_short' },
      { client_token: `abh_${'A'.repeat(42)}B` },
      { client_token: `aba_${'A'.repeat(43)}` },
      ...(/^abh_[\w-]{42}[AEIMQUYcgkosw048]$/.test(spent) ? [{ client_token: spent }] : []),
    ];
    for (const more of bad) expect(await refusal(code, more), JSON.stringify(more)).to.equal('400 invalid_request');
    expect(await before()).to.equal(head + 1);
    expect((await ask(code)).status).to.equal(201);
  });

  it('does not look at a credential sent along, and keeps nothing for a repeat', async () => {
    const { code } = await invited();
    const first = await server.dana.call('joinAsGuest', { body: { code, key_name: 'x' }, key: 'guest' });
    expect([first.status, first.body.person.server_role]).to.deep.equal([201, 'guest']);
    const again = await server.dana.call('joinAsGuest', { body: { code, key_name: 'x' }, key: 'guest' });
    expect([again.status, again.replayed]).to.deep.equal([404, false]);
    const { code: other } = await invited();
    expect((await ask(other, {}, new Api(server.url, 'nonsense'))).status).to.equal(201);
  });

  it('has one winner among many with one code, and among many codes for one handle, in one process or two', async () => {
    const there = new Api(twin?.url ?? server.url);
    const { code } = await invited();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_unused, n) => ask(code, {}, n % 2 ? server.nobody : there)),
    );
    expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
    expect(answers.filter((answer) => answer.code === 'join_code_invalid')).to.have.length(11);
    const handle = newHandle();
    const codes = [];
    for (let n = 0; n < 6; n++) {
      codes.push(await newCode(server.dana, (await newBoard(server.dana)).name, { guest: handle }));
    }
    const raced = await Promise.all(codes.map((each, n) => ask(each.code, {}, n % 2 ? server.nobody : there)));
    expect(raced.filter(({ status }) => status === 201)).to.have.length(1);
    expect(raced.filter((answer) => answer.code === 'join_code_invalid')).to.have.length(5);
  });

  describe('with a key the guest brought', () => {
    it('never shows it, and answers a repeat within 10 minutes with another agent token', async () => {
      const { board, code } = await invited();
      const client_token = newToken();
      const first = await ask(code, { client_token });
      expect(first.status).to.equal(201);
      expect(first.body.key).not.to.have.property('token');
      expect(first.text).not.to.include(client_token);
      const person = new Api(server.url, client_token);
      expect((await person.ok('getMe')).id).to.equal(first.body.person.id);
      const { head_seq } = await person.ok('getBoard', { params: { board } });
      server.clock.advance(599_000);
      const again = await ask(code, { client_token, name: 'ignored', key_name: 'ignored' });
      expect(again.status).to.equal(200);
      const { token, ...rest } = again.body;
      expect([rest.person, rest.agent.id, rest.key.id]).to.deep.equal([
        first.body.person,
        first.body.agent.id,
        first.body.key.id,
      ]);
      expect(token).not.to.equal(first.body.token);
      expect(await new Api(server.url, first.body.token).refused('getMe')).to.equal('401 unauthorized');
      expect((await new Api(server.url, token).ok('getMe')).id).to.equal(first.body.agent.id);
      expect((await person.ok('getBoard', { params: { board } })).head_seq).to.equal(head_seq);
      server.clock.advance(1_000);
      expect(await refusal(code, { client_token })).to.equal('404 join_code_invalid');
      const stored = await server.db.read((tx) => tx.query((db) => db('access_keys').where('id', first.body.key.id)));
      expect(JSON.stringify(stored)).not.to.include(client_token);
      expect(server.log.join('')).not.to.include(client_token);
    });

    it('answers no other repeat: without it, with another, after key, guest or seat ended', async () => {
      const lost = async () => {
        const { board, code } = await invited();
        const client_token = newToken();
        const { body } = await ask(code, { client_token });
        return { board, code, client_token, guest: new Api(server.url, client_token, body.person.id), body };
      };
      const plain = await lost();
      expect(await refusal(plain.code)).to.equal('404 join_code_invalid');
      expect(await refusal(plain.code, { client_token: newToken() })).to.equal('404 join_code_invalid');
      const other = await lost();
      expect(await refusal(plain.code, { client_token: other.client_token })).to.equal('404 join_code_invalid');
      const ended = [await lost(), await lost(), await lost(), await lost(), await lost()];
      const [keyless, expired, removed, seatless, away] = ended as [
        typeof plain,
        typeof plain,
        typeof plain,
        typeof plain,
        typeof plain,
      ];
      await changeKey(server, keyless.guest, { revoked_at: server.clock.now() });
      await changeKey(server, expired.guest, { expires_at: server.clock.now() });
      await removePerson(server, removed.guest);
      await endMember(server, seatless.body.agent.id);
      await endMember(server, await memberIdOf(server, away.board, away.guest), 'left');
      for (const { code, client_token } of ended) {
        expect(await refusal(code, { client_token })).to.equal('404 join_code_invalid');
      }
      const resting = await lost();
      await changeBoard(server, resting.board, { lifecycle: 'archived' });
      const { code, client_token } = resting;
      expect(await refusal(code, { client_token })).to.equal('409 board_archived');
      await new Api(server.url, resting.body.token).ok('getMe');
    });

    it('does not take one that opens something already', async () => {
      const { code } = await invited();
      const client_token = newToken();
      await ask(code, { client_token });
      const next = await invited();
      const refused = await ask(next.code, { client_token });
      expect([refused.status, refused.code, detailsOf(refused)?.['field']]).to.deep.equal([
        400,
        'invalid_request',
        'client_token',
      ]);
      expect((await ask(next.code)).status).to.equal(201);
    });

    it('ends a stream of the earlier agent token when it is asked again', async () => {
      const { board, code } = await invited();
      const client_token = newToken();
      const { body } = await ask(code, { client_token });
      const stream = await TestStream.open(new Api(twin?.url ?? server.url, body.token), { board });
      await ask(code, { client_token });
      await server.clock.within(1_000, () => stream.until(() => stream.ended));
      expect(stream.named('end')[0]?.data).to.deep.equal({ reason: 'credential_ended' });
    });

    it('has one person and one working token after many at once, in one process or two', async () => {
      const { board, code } = await invited();
      const call: Call = { body: { code, key_name: 'laptop', client_token: newToken() } };
      const there = new Api(twin?.url ?? server.url);
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_unused, n) => (n % 2 ? server.nobody : there).call('joinAsGuest', call)),
      );
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 200, 200, 200, 200, 200, 200, 201]);
      expect(new Set(answers.map(({ body }) => body.person.id)).size).to.equal(1);
      const working = await Promise.all(
        answers.map(async ({ body }) => (await new Api(server.url, body.token).call('getMe')).status === 200),
      );
      expect(working.filter(Boolean)).to.have.length(1);
      const { members } = await server.dana.ok('listMembers', { params: { board } });
      expect(members).to.have.length(3);
    });
  });
});
