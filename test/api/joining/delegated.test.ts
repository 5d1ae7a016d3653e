import { expect } from 'chai';
import type { RunningServer } from '../../../src/server/serve.ts';
import { Api, type Call, detailsOf } from '../../support/api.ts';
import { newAgent, newBoard, newDelegation } from '../../support/cast.ts';
import { changedAndRefused } from '../../support/counting.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, putOnBoard, revokeKey } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';
import { until } from '../../support/until.ts';

forEachDatabase('joining a session by a delegation', (engine) => {
  let server: TestServer;
  let twin: RunningServer | null;
  let pam: Api;
  let machine: Api;
  before(async () => {
    server = await startTestServer(engine);
    twin = engine === 'postgres' ? await startTwin(server) : null;
    pam = await server.person('pam');
    machine = await newDelegation(pam);
  });
  after(async () => {
    await twin?.close();
    await server.stop();
  });

  let sessions = 0;
  const newSession = () => `codex:s${++sessions}`;
  const join = (board: string, session: string, more: Record<string, unknown> = {}, from = machine) =>
    from.call('joinBoard', { body: { board, session, ...more } });
  const refusal = async (board: string, session: string, more = {}, from = machine) => {
    const { status, code } = await join(board, session, more, from);
    return `${status} ${code}`;
  };
  const headOf = async (board: string) => (await server.dana.ok('getBoard', { params: { board } })).head_seq;
  const elsewhere = (api: Api) => new Api(twin?.url ?? server.url, api.token);

  it('makes a seat whose events say so, under the delegation’s key', async () => {
    const { name: board } = await newBoard(pam);
    const { status, body, headers } = await join(board, 'claude-code:x1', { name: 'one' });
    expect([status, headers.get('cache-control'), body.reused]).to.deep.equal([201, 'no-store', undefined]);
    expect(body.agent).to.include({ name: 'one', role: 'member', harness: 'claude-code', owner: 'pam' });
    expect(body.agent).not.to.have.property('can_remove');
    expect(body.board).to.include({ name: board, on_board: true, agent_count: 1 });
    expect(body.board).not.to.have.any.keys('read_up_to', 'unread', 'needs_reply');
    const { events } = await pam.ok('listEvents', { params: { board }, query: { after: 2 } });
    expect(events.map(({ type }) => type)).to.deep.equal(['member.joined']);
    expect(events[0]?.data).to.include({ via: 'delegation', member_id: body.agent.id, join_code_id: null });
    expect(events[0]?.data?.['delegation_id']).to.match(/^dlg_/);
    expect(events[0]?.actor).to.include({ kind: 'human', name: 'pam' });
    expect(JSON.stringify(events)).not.to.include('x1');
    expect((await new Api(server.url, body.token).ok('getMe')).id).to.equal(body.agent.id);
  });

  it('gives a session that has a seat another token for it, and changes nothing else', async () => {
    const { name: board } = await newBoard(pam);
    const session = newSession();
    const first = (await join(board, session, { name: 'stays' })).body;
    const head = await headOf(board);
    const again = await join(board, session, { name: 'other', role: 'no-such-role', harness: 'claude-code' });
    expect([again.status, again.body.reused]).to.deep.equal([200, true]);
    expect(again.body.agent).to.deep.include({ id: first.agent.id, name: 'stays', role: 'member', harness: 'codex' });
    expect(again.body.token).not.to.equal(first.token);
    expect(await headOf(board)).to.equal(head);
    expect(await new Api(server.url, first.token).refused('getMe')).to.equal('401 unauthorized');
    const now = new Api(server.url, again.body.token);
    expect((await now.ok('getMe')).id).to.equal(first.agent.id);
    const { members } = await pam.ok('listMembers', { params: { board }, query: { kind: 'agent' } });
    expect(members).to.have.length(1);
  });

  it('makes the seat depend on the new key, no longer on the old one', async () => {
    const own = await server.person('kay');
    const { name: board } = await newBoard(own);
    const session = newSession();
    await join(board, session, {}, await newDelegation(own));
    const token = `abh_${'n'.repeat(43)}`;
    await server.db.write(async (tx) => {
      const [key] = await tx.query<Record<string, unknown>>((db) => db('access_keys').where('person_id', own.personId));
      const id = String(key?.['id']).slice(0, -2).concat('ZZ');
      await tx.change((db) => db('access_keys').insert({ ...key, id, digest: server.root.digest(token) }));
    });
    const other = new Api(server.url, token);
    const { body } = await join(board, session, {}, await newDelegation(other));
    await revokeKey(server, own);
    const agent = new Api(server.url, body.token);
    await agent.ok('getMe');
    await revokeKey(server, other);
    expect(await agent.refused('getMe')).to.equal('401 unauthorized');
  });

  it('is never kept: the same key makes the same request again, with another token', async () => {
    const { name: board } = await newBoard(pam);
    const call: Call = { body: { board, session: newSession() }, key: 'kept?' };
    const [first, second] = [await machine.call('joinBoard', call), await machine.call('joinBoard', call)];
    expect([second.status, second.replayed]).to.deep.equal([200, false]);
    expect(second.body.token).not.to.equal(first.body.token);
    const other = await machine.call('joinBoard', { ...call, body: { board, session: newSession() } });
    expect(other.status).to.equal(201);
  });

  it('brings its person onto an open board first, and back onto it', async () => {
    const { name: board } = await newBoard(server.dana);
    const { body } = await join(board, newSession());
    const { events } = await pam.ok('listEvents', { params: { board }, query: { after: 2 } });
    expect(events.map(({ type }) => type)).to.deep.equal(['person.added', 'member.joined']);
    expect(events[0]?.data).to.deep.include({ rejoined: false, via: 'delegation', access: 'member' });
    expect(events[0]?.data?.['delegation_id']).to.equal(events[1]?.data?.['delegation_id']);
    expect(events.map(({ actor }) => actor.name)).to.deep.equal(['pam', 'pam']);
    expect(body.board).to.include({ on_board: true, people_count: 2 });
    const memberId = String(events[0]?.data?.['member_id']);
    await endMember(server, body.agent.id);
    await endMember(server, memberId, 'left');
    await join(board, newSession());
    const { events: later } = await pam.ok('listEvents', { params: { board }, query: { type: 'person.added' } });
    expect(later[1]?.data).to.deep.include({ member_id: memberId, rejoined: true, via: 'delegation' });
  });

  it('is refused before it brings its person, and leaves nothing behind', async () => {
    const { name: board } = await newBoard(server.dana, { template: 'writer-reviewer' });
    const taken = await newAgent(server.dana, board, { name: 'taken' });
    const head = await headOf(board);
    const refused = [
      [{ role: 'nobody' }, '422 role_not_found'],
      [{ harness: 'claude-code' }, '422 invalid_request'],
      [{ name: taken.name }, '409 name_taken'],
      // The name the person themselves gets by coming.
      [{ name: 'pam' }, '409 name_taken'],
    ] as const;
    const changed = await changedAndRefused(server, async () => {
      for (const [more, expected] of refused)
        expect(await refusal(board, newSession(), more), JSON.stringify(more)).to.equal(expected);
    });
    expect(changed).to.equal(0);
    expect(await headOf(board)).to.equal(head);
    expect((await pam.ok('getBoard', { params: { board } })).on_board).to.equal(false);
  });

  it('decides in the order of the contract: board, guest, lifecycle, session', async () => {
    const { name: hidden } = await newBoard(server.dana, { visibility: 'private' });
    const gus = await server.person('gus', 'guest');
    const guests = await newDelegation(gus);
    const { name: board } = await newBoard(pam);
    expect(await refusal(hidden, newSession())).to.equal('404 board_not_found');
    expect(await refusal('Not A Name', newSession())).to.equal('404 board_not_found');
    expect(await refusal(board, newSession(), {}, guests)).to.equal('404 board_not_found');
    await putOnBoard(server, board, gus);
    await changeBoard(server, board, { lifecycle: 'archived' });
    expect(await refusal(board, newSession(), {}, guests)).to.equal('403 guest_not_allowed');
    expect(await refusal(board, newSession(), { role: 'nobody' })).to.equal('409 board_archived');
    for (const body of [{ board }, { session: newSession() }, { board, session: 'x' }, {}]) {
      expect(await machine.refused('joinBoard', { body })).to.equal('400 invalid_request');
    }
  });

  it('gives no other token for a seat of an archived board', async () => {
    const { name: board } = await newBoard(pam);
    const session = newSession();
    const { token } = (await join(board, session)).body;
    await changeBoard(server, board, { lifecycle: 'archived' });
    expect(await refusal(board, session)).to.equal('409 board_archived');
    await new Api(server.url, token).ok('getMe');
  });

  it('gives no seat in place of one that ended', async () => {
    const { name: board } = await newBoard(pam);
    const session = newSession();
    const { agent } = (await join(board, session)).body;
    await endMember(server, agent.id);
    const refused = await join(board, session, { name: 'another' });
    expect([refused.status, refused.code]).to.deep.equal([403, 'agent_removed']);
    expect(detailsOf(refused)).to.have.all.keys('agent', 'removed_at', 'removed_by');
    expect(detailsOf(refused)).to.include({ agent: agent.name, removed_by: 'person' });
    // Another session of the same person is not concerned.
    expect((await join(board, newSession())).status).to.equal(201);
  });

  it('never takes two people’s sessions for one', async () => {
    const { name: board } = await newBoard(server.dana);
    const sam = await server.person('sam');
    const session = newSession();
    const [own, theirs] = [await join(board, session), await join(board, session, {}, await newDelegation(sam))];
    expect([own.status, theirs.status]).to.deep.equal([201, 201]);
    expect(own.body.agent.id).not.to.equal(theirs.body.agent.id);
    await new Api(server.url, own.body.token).ok('getMe');
  });

  it('finds the newest seat of a session, also one that a key made', async () => {
    const { name: board } = await newBoard(pam);
    const session = newSession();
    const older = await newAgent(pam, board, { session });
    server.clock.advance(10);
    const call: Call = { body: { board, role: 'member', session }, key: 'by key' };
    const { agent } = await pam.ok('joinBoard', call);
    expect((await join(board, session)).body.agent.id).to.equal(agent.id);
    await older.ok('getMe');
    expect(await pam.refused('joinBoard', call)).to.equal('409 seat_token_replaced');
  });

  it('ends with one seat for many calls at once, in one process or two', async () => {
    const { name: board } = await newBoard(pam);
    const session = newSession();
    const other = await newDelegation(pam, 'other');
    // Few enough that the last one's turn comes within a write's time limit on a busy machine.
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_unused, n) => join(board, session, {}, n % 2 ? machine : elsewhere(other))),
    );
    expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
    expect(answers.filter(({ body }) => body.reused)).to.have.length(7);
    expect(new Set(answers.map(({ body }) => body.agent.id)).size).to.equal(1);
    const tokens = answers.map(({ body }) => new Api(server.url, body.token));
    const working = await Promise.all(tokens.map(async (api) => (await api.call('getMe')).status === 200));
    expect(working.filter(Boolean)).to.have.length(1);
  });

  it('answers at once also while the seat is busy with its former token', async () => {
    const { name: board } = await newBoard(pam);
    const session = newSession();
    let { token } = (await join(board, session)).body;
    for (let n = 0; n < 5; n++) {
      const seat = new Api(server.url, token);
      const post = (api: Api) => api.call('postMessage', { params: { board }, body: { body: 'busy' } });
      const posts = Array.from({ length: 8 }, (_unused, index) => post(index % 2 === 0 ? seat : elsewhere(seat)));
      const { status, body } = await join(board, session);
      expect(status).to.equal(200);
      token = body.token;
      const codes = (await Promise.all(posts)).map(({ code }) => code ?? 'ok');
      expect(codes.filter((code) => code !== 'ok' && code !== 'unauthorized')).to.deep.equal([]);
    }
  });

  it('ends waits and streams of the replaced token within a second, in every process', async () => {
    const { name: board } = await newBoard(pam);
    const session = newSession();
    const { token } = (await join(board, session)).body;
    const old = [new Api(server.url, token), elsewhere(new Api(server.url, token))];
    const streams = await Promise.all(old.map((api) => TestStream.open(api, { board })));
    const asleep = server.clock.waiting(600_000);
    const waits = old.map((api) => api.call('readInbox', { query: { wait: 600 } }));
    await until(() => server.clock.waiting(600_000) >= asleep + 2, 'both wait');
    const release = server.clock.holdBack(1_000);
    await join(board, session);
    for (const wait of waits) {
      const { status, code } = await wait;
      expect(`${status} ${code}`).to.equal('401 unauthorized');
    }
    for (const stream of streams) {
      expect((await stream.frame(({ event }) => event === 'end')).data).to.deep.equal({ reason: 'credential_ended' });
      await stream.until(() => stream.ended);
    }
    release();
  });
});
