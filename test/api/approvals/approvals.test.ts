/** Approvals: asked for, held, allowed, declined, expired. */
import { expect } from 'chai';
import type { NextStep } from '../../../src/contract/errors.ts';
import { forgetRequestKeys } from '../../../src/server/approvals/approvals.store.ts';
import { inParts } from '../../../src/server/db/rows.ts';
import type { WriteTx } from '../../../src/server/db/tx.ts';
import { findKey } from '../../../src/server/keys/credentials.store.ts';
import { Api, detailsOf } from '../../support/api.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, newBrowser, newDelegation, putOnBoard, revokeKey } from '../../support/state.ts';
import { setPerson } from '../invites/cast.ts';
import { addBob, allow, ask, codeOf, decline, eventsOf, held, invitePeople, look, scene, type Wanted } from './cast.ts';

const DAY = 86_400_000;

const nextOf = ({ body }: { body: unknown }): NextStep | undefined =>
  (body as { error: { next?: NextStep } }).error.next;

forEachDatabase('an approval', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('is held without an allowance: nothing changes, and the person is told what to run', async () => {
    const s = await scene(server);
    const answer = await ask(s.agent, addBob(s));
    expect(answer.status).to.equal(202);
    const { approval, state, next } = answer.body;
    expect([state, approval.state, approval.outcome]).to.deep.equal(['pending', 'pending', { state: 'none' }]);
    expect(answer.headers.get('location')).to.equal(`/v1/me/approvals/${approval.id}`);
    expect(next?.command).to.equal(`service approvals allow ${approval.id} --server '${server.url}'`);
    expect(next?.board_view).to.equal(`${server.url}/inbox/approvals/${approval.id}`);
    expect(approval.agent_id).to.equal(s.agent.memberId);
    expect(approval.display).to.deep.include({ target_handle: s.bobHandle, agent_name: s.agent.name });
    expect(await eventsOf(s.ana, s.board.name, 'person.added')).to.deep.equal([]);
    expect(Date.parse(approval.expires_at) - Date.parse(approval.created_at)).to.equal(DAY);
  });

  it('is executed once, however often it is allowed at once', async () => {
    const twin = engine === 'postgres' ? await startTwin(server) : null;
    const s = await scene(server);
    const there = new Api(twin?.url ?? server.url, s.ana.token);
    const approval = await held(s.agent, addBob(s));
    const answers = await Promise.all([s.ana, there, s.ana, there].map((api) => allow(api, approval)));
    expect(answers.map(({ status, body }) => [status, body.state])).to.deep.equal(
      Array.from({ length: 4 }, () => [200, 'executed']),
    );
    const added = await eventsOf(s.ana, s.board.name, 'person.added');
    expect(added).to.have.length(1);
    expect(added[0]?.actor).to.include({ kind: 'agent', member_id: s.agent.memberId });
    expect(added[0]?.data).to.deep.include({ by_owner: s.ana.personId, action_kind: 'added' });
    expect(added[0]?.data?.['authorization']).to.deep.equal({
      kind: 'added',
      person_id: s.ana.personId,
      agent_id: s.agent.memberId,
      parent_key_id: approval.parent_key_id,
      via: 'approval',
      payload_hash: approval.payload_hash,
      approval_id: approval.id,
    });
    const { execution } = await look(s.ana, approval);
    expect(execution).to.deep.include({ effect: 'applied' });
    await twin?.close();
  });

  it('says whose key it is about', async () => {
    const s = await scene(server);
    const { name: own } = await s.ana.ok('getMe');
    for (const [person, handle] of [
      [s.bob, s.bobHandle],
      [s.ana, own],
    ] as const) {
      const { current_key_id: key_id, keys } = await person.ok('listKeys');
      const { display } = await held(s.agent, { kind: 'revoke_key', key_id });
      expect(display).to.deep.include({ target_handle: handle, key_name: keys[0]?.name });
    }
  });

  it('does each kind of action by the steps of its own operation', async () => {
    const s = await scene(server);
    const bob = s.bob.personId ?? '';
    const on = { board_id: s.board.id };
    await putOnBoard(server, s.board.name, s.bob);
    const run = async (body: Wanted, status = 200) => {
      const answer = await allow(s.ana, await held(s.agent, body));
      expect([answer.status, answer.body.state], answer.text).to.deep.equal([status, 'executed']);
    };
    await run({ kind: 'set_board_role', ...on, person_id: bob, role: 'owner' });
    const [made] = await eventsOf(s.ana, s.board.name, 'person.made_owner');
    expect(made?.data?.['action_kind']).to.equal('role_changed');
    await run({ kind: 'set_board_role', ...on, person_id: bob, role: 'member' });
    const [unmade] = await eventsOf(s.ana, s.board.name, 'person.role_changed');
    expect(unmade?.data).to.include({ before: 'owner', after: 'member', action_kind: 'role_changed' });
    await run({ kind: 'set_board_policy', ...on, policy: { broadcast: 'granted' } });
    const [policy] = await eventsOf(s.ana, s.board.name, 'board.policy_changed');
    expect(policy?.data).to.have.nested.property('authorization.via', 'approval');
    expect(policy?.data).not.to.have.property('action_kind');
    await run({ kind: 'remove_person', ...on, person_id: bob });
    const [removed] = await eventsOf(s.ana, s.board.name, 'person.removed');
    expect(removed?.data).to.have.nested.property('authorization.agent_id', s.agent.memberId);
    await run({ kind: 'set_server_role', person_id: bob, role: 'admin' });
    expect((await s.bob.ok('getMe')) as { server_role?: string }).to.include({ server_role: 'admin' });
    const key = (await s.bob.ok('listKeys')).current_key_id;
    await run({ kind: 'revoke_key', key_id: key });
    expect(await s.bob.refused('getMe')).to.equal('401 unauthorized');
    await run({ kind: 'remove_person', person_id: bob });
    expect(await s.ana.refused('listPeople', { query: { handle: s.bobHandle } })).to.equal('404 person_not_found');
    await run(invitePeople({ boards: [s.board.id] }), 201);
  });

  it('removes somebody from the server with their boards, in the name of the agent where it has its seat', async () => {
    const s = await scene(server);
    const other = await newBoard(s.ana);
    await putOnBoard(server, s.board.name, s.bob);
    await putOnBoard(server, other.name, s.bob);
    const approval = await held(s.agent, { kind: 'remove_person', person_id: s.bob.personId });
    expect((await allow(s.ana, approval)).status).to.equal(200);
    const [here] = await eventsOf(s.ana, s.board.name, 'person.removed');
    const [there] = await eventsOf(s.ana, other.name, 'person.removed');
    expect(here?.actor).to.include({ kind: 'agent', member_id: s.agent.memberId });
    expect(there?.actor).to.include({ kind: 'human' });
    expect(there?.data).to.include({ from_server: true });
    expect(there?.data).to.have.nested.property('authorization.approval_id', approval.id);
  });

  it('takes its person off a board, whose agents there were removed by their person', async () => {
    const s = await scene(server);
    await putOnBoard(server, s.board.name, s.bob);
    const agent = await newAgent(s.bob, s.board.name);
    const approval = await held(agent, { kind: 'remove_person', board_id: s.board.id, person_id: s.bob.personId });
    expect((await allow(s.bob, approval)).status).to.equal(200);
    expect(detailsOf(await agent.call('getMe'))).to.include({ removed_by: 'person' });
    const [event] = await eventsOf(s.ana, s.board.name, 'person.removed');
    expect(event?.data).to.deep.include({ person_id: s.bob.personId, agents: [agent.memberId] });
  });

  it('ends with the key it revokes, and executes and answers all the same', async () => {
    const s = await scene(server);
    const spare = await s.ana.ok('createKey', { body: { name: 'spare' } });
    const own = (await s.ana.ok('listKeys')).current_key_id;
    const approval = await held(s.agent, { kind: 'revoke_key', key_id: own });
    const person = new Api(server.url, spare.token, s.ana.personId);
    const answer = await allow(person, approval);
    expect([answer.status, answer.body.state]).to.deep.equal([200, 'executed']);
    expect((await look(person, approval)).state).to.equal('executed');
    expect(await s.agent.refused('getMe')).to.equal('401 unauthorized');
  });

  it('refuses what would change nothing when it is asked for, and executes what became so as already', async () => {
    const s = await scene(server);
    await putOnBoard(server, s.board.name, s.bob);
    const on = { board_id: s.board.id, person_id: s.bob.personId };
    expect(codeOf(await ask(s.agent, { kind: 'add_people', ...on }))).to.equal('409 already_on_board');
    for (const body of [
      { kind: 'set_board_role', ...on, role: 'member' },
      { kind: 'set_server_role', person_id: s.bob.personId, role: 'member' },
      { kind: 'set_board_policy', board_id: s.board.id, policy: { nudges: 'on' } },
      { kind: 'set_board_policy', board_id: s.board.id, policy: { agent_run: { notice: 12, hold: 30 } } },
      { kind: 'set_board_policy', board_id: s.board.id, policy: { preset: 'starter' } },
    ] as Wanted[]) {
      expect(codeOf(await ask(s.agent, body)), body.kind).to.equal('409 no_change');
    }
    const role = await held(s.agent, { kind: 'set_board_role', ...on, role: 'owner' });
    await s.ana.ok('makeBoardOwner', { params: { board: s.board.name }, body: { handle: s.bobHandle } });
    const removal = await held(s.agent, { kind: 'remove_person', ...on });
    await s.ana.ok('removeBoardPerson', { params: { board: s.board.name, handle: s.bobHandle } });
    expect((await allow(s.ana, removal)).body.approval.execution?.effect).to.equal('already');
    expect(codeOf(await allow(s.ana, role))).to.equal('404 person_not_on_board');
    expect((await look(s.ana, role)).state).to.equal('pending');
  });

  it('is refused with what the person would be refused with, and nothing is written', async () => {
    const s = await scene(server);
    const eve = await server.person('eve');
    const gus = await server.person('gus', 'guest');
    await putOnBoard(server, s.board.name, eve);
    const hers = await newAgent(eve, s.board.name);
    const on = { board_id: s.board.id };
    const hidden = await newBoard(s.ana, { visibility: 'private' });
    const told: [Wanted, string][] = [
      [invitePeople(), '403 server_admin_required'],
      [{ kind: 'set_server_role', person_id: s.bob.personId, role: 'admin' }, '403 server_admin_required'],
      [{ kind: 'remove_person', person_id: s.bob.personId }, '403 server_admin_required'],
      [{ kind: 'set_board_role', ...on, person_id: s.bob.personId, role: 'owner' }, '403 owner_required'],
      [{ kind: 'set_board_policy', ...on, policy: { nudges: 'off' } }, '403 owner_required'],
      [{ kind: 'remove_person', ...on, person_id: s.ana.personId }, '403 owner_required'],
      [{ kind: 'add_people', ...on, person_id: gus.personId }, '409 person_is_guest'],
      [{ kind: 'add_people', ...on, person_id: 'hum_01K5A0000000000000000000H1' }, '404 person_not_found'],
      [{ kind: 'add_people', board_id: hidden.id, person_id: s.bob.personId }, '404 board_not_found'],
      [{ kind: 'revoke_key', key_id: (await s.bob.ok('listKeys')).current_key_id }, '404 key_not_found'],
    ];
    for (const [body, code] of told) expect(codeOf(await ask(hers, body)), body.kind).to.equal(code);
    const own: [Wanted, string][] = [
      [{ kind: 'set_board_role', ...on, person_id: s.ana.personId, role: 'member' }, '409 last_owner'],
      [{ kind: 'set_server_role', person_id: gus.personId, role: 'member' }, '409 person_is_guest'],
      [{ kind: 'remove_person', ...on, person_id: s.bob.personId }, '404 person_not_on_board'],
    ];
    for (const [body, code] of own) expect(codeOf(await ask(s.agent, body)), body.kind).to.equal(code);
    expect((await eve.ok('listApprovals')).approvals).to.deep.equal([]);
  });

  it('takes exactly the actions there are, and nothing more in them', async () => {
    const s = await scene(server);
    const bad: Wanted[] = [
      { kind: 'delete_board' as never },
      { ...addBob(s), extra: 1 },
      invitePeople({ ttl_seconds: 86_401 }),
      invitePeople({ boards: [s.board.id, s.board.id] }),
      invitePeople({ pairing: { initiating_agent_id: s.agent.memberId, work: 'x' } }),
      { kind: 'set_board_policy', board_id: s.board.id, policy: {} },
      invitePeople({
        boards: [s.board.id],
        pairing: { initiating_agent_id: s.agent.memberId, work: `use abh_${'A'.repeat(43)}` },
      }),
      { ...addBob(s), pad: 'x'.repeat(17_000) },
    ];
    for (const body of bad) expect(codeOf(await ask(s.agent, body))).to.equal('400 invalid_request');
    const other = await newAgent(s.ana, s.board.name);
    const pairing = { initiating_agent_id: other.memberId, work: 'x' };
    expect(codeOf(await ask(s.agent, invitePeople({ boards: [s.board.id], pairing })))).to.equal('403 forbidden');
  });

  it('is one request for one key and one text, for a day', async () => {
    const s = await scene(server);
    const first = await ask(s.agent, addBob(s), 'k1');
    const again = await ask(s.agent, addBob(s), 'k1');
    expect([again.status, again.replayed, again.body.approval.id]).to.deep.equal([202, true, first.body.approval.id]);
    expect(codeOf(await ask(s.agent, invitePeople(), 'k1'))).to.equal('422 idempotency_conflict');
    // Without a key the same pending request is found by what it asks.
    expect((await ask(s.agent, addBob(s))).body.approval.id).to.equal(first.body.approval.id);
    await allow(s.ana, first.body.approval);
    const after = await ask(s.agent, addBob(s), 'k1');
    expect([after.status, after.replayed, after.body.state]).to.deep.equal([200, true, 'executed']);
    const invite = await ask(s.agent, invitePeople(), 'k2');
    await decline(s.ana, invite.body.approval);
    expect(codeOf(await ask(s.agent, invitePeople(), 'k2'))).to.equal('409 approval_closed');
    server.clock.advance(DAY);
    expect((await ask(s.agent, invitePeople(), 'k2')).status).to.equal(202);
  });

  it('is the one that waits for the same also under another key, which stays its for a day', async () => {
    const s = await scene(server);
    const first = await ask(s.agent, addBob(s), 'k1');
    server.clock.advance(DAY / 2);
    const other = await ask(s.agent, addBob(s), 'k2');
    expect([other.status, other.replayed, other.body.approval.id]).to.deep.equal([202, false, first.body.approval.id]);
    expect((await ask(s.agent, addBob(s), 'k2')).replayed).to.equal(true);
    expect(codeOf(await ask(s.agent, invitePeople(), 'k2'))).to.equal('422 idempotency_conflict');
    await decline(s.ana, first.body.approval);
    for (const key of ['k1', 'k2'])
      expect(codeOf(await ask(s.agent, addBob(s), key)), key).to.equal('409 approval_closed');
    server.clock.advance(DAY / 2);
    expect(codeOf(await ask(s.agent, addBob(s), 'k2'))).to.equal('409 approval_closed');
    const anew = await ask(s.agent, addBob(s), 'k1');
    expect([anew.status, anew.replayed]).to.deep.equal([202, false]);
    server.clock.advance(DAY / 2);
    expect((await ask(s.agent, addBob(s), 'k2')).body.approval.id).to.equal(anew.body.approval.id);
  });

  it('has its keys freed after a day by an index, not by a look at all of them', async () => {
    const plan = await server.db.write(async (tx) => {
      const row = { agent_id: 'mem', approval_id: 'apr', asked_at: tx.now };
      const rows = Array.from({ length: 2_000 }, (_, n) => ({ ...row, key_hash: Buffer.from(`${n}`) }));
      await inParts(rows, (part) => tx.change((db) => db('approval_keys').insert(part)));
      if (engine === 'postgres') await tx.query((db) => db.raw('ANALYZE approval_keys'));
      const explain = engine === 'postgres' ? 'EXPLAIN' : 'EXPLAIN QUERY PLAN';
      const told: unknown[] = [];
      const change: WriteTx['change'] = async (build) =>
        told.push(await tx.query((db) => db.raw(`${explain} ${build(db)}`)));
      await forgetRequestKeys({ now: tx.now, change } as WriteTx);
      await tx.change((db) => db('approval_keys').where('agent_id', 'mem').delete());
      return JSON.stringify(told);
    });
    expect(plan).to.include('approval_keys_asked_at_index');
  });

  it('is one request for several that come at once with one key', async () => {
    const s = await scene(server);
    for (const wanted of [addBob(s), invitePeople()]) {
      const answers = await Promise.all([1, 2, 3].map(() => ask(s.agent, wanted, `once ${wanted.kind}`)));
      expect(new Set(answers.map(({ body }) => body.approval.id)).size).to.equal(1);
      expect(answers.filter(({ replayed }) => !replayed)).to.have.length(1);
    }
  });

  it('is answered no more once what is stored is not what was asked for', async () => {
    const s = await scene(server);
    const { id } = (await ask(s.agent, addBob(s), 'k')).body.approval;
    const other = JSON.stringify({ ...addBob(s), person_id: s.ana.personId });
    await server.db.write((tx) => tx.change((db) => db('approvals').where({ id }).update({ action: other })));
    const logged = server.log.length;
    expect(codeOf(await ask(s.agent, addBob(s), 'k'))).to.equal('409 approval_closed');
    expect(codeOf(await allow(s.ana, { id }))).to.equal('409 approval_closed');
    expect(server.log.slice(logged).filter((line) => line.includes('not what was asked for'))).to.have.length(2);
    expect(await eventsOf(s.ana, s.board.name, 'person.added')).to.deep.equal([]);
  });

  it('has one canonical text, whatever the order of what was sent', async () => {
    const s = await scene(server);
    const other = await newBoard(s.ana);
    const [one, two] = [s.board.id, other.id];
    const first = await held(s.agent, invitePeople({ boards: [one, two], ttl_seconds: 86_400 }));
    const second = await held(s.agent, { invite: { boards: [two, one] }, kind: 'invite_people' } as Wanted);
    expect(second.payload_hash).to.equal(first.payload_hash);
    expect(second.id).not.to.equal(first.id);
    expect((await held(s.agent, invitePeople())).payload_hash).to.equal(
      'sha256:eba358c93a3ad8cf4e6e579a43fd882a09ca7cc2035d0df880d80be03e0cbbda',
    );
  });

  it('waits a day by the clock, whether or not anything noticed', async () => {
    const s = await scene(server);
    const approval = await held(s.agent, addBob(s));
    server.clock.advance(DAY - 60_000);
    expect((await look(s.ana, approval)).state).to.equal('pending');
    server.clock.advance(60_000);
    expect(codeOf(await allow(s.ana, approval))).to.equal('409 approval_closed');
    expect(codeOf(await decline(s.ana, approval))).to.equal('409 approval_closed');
    expect(await look(s.ana, approval)).to.include({ state: 'expired', closed_reason: 'timeout' });
  });

  it('ends with the seat, the key or the board it was asked from', async () => {
    const s = await scene(server);
    const gone = await held(s.agent, addBob(s));
    await endMember(server, s.agent.memberId);
    expect(codeOf(await allow(s.ana, gone))).to.equal('409 approval_closed');
    expect(await look(s.ana, gone)).to.include({ state: 'expired', closed_reason: 'requester_ended' });

    const t = await scene(server);
    const keyed = await held(t.agent, addBob(t));
    const spare = await t.ana.ok('createKey', { body: { name: 'spare' } });
    await revokeKey(server, t.ana);
    const person = new Api(server.url, spare.token);
    expect(await look(person, keyed)).to.include({ state: 'expired', closed_reason: 'key_ended' });
    expect(codeOf(await allow(person, keyed))).to.equal('409 approval_closed');

    const u = await scene(server);
    const elsewhere = await newBoard(u.ana);
    const lost = await held(u.agent, { kind: 'add_people', board_id: elsewhere.id, person_id: u.bob.personId });
    await changeBoard(server, u.board.name, { lifecycle: 'archived' });
    await changeBoard(server, u.board.name, { lifecycle: 'deleted' });
    expect(await look(u.ana, lost)).to.include({ state: 'expired', closed_reason: 'requester_ended' });
  });

  it('ended no later than its key, also before anything has noticed', async () => {
    const s = await scene(server);
    const { token } = await s.ana.ok('createKey', { body: { name: 'short', ttl_seconds: 3_600 } });
    const agent = await newAgent(new Api(server.url, token), s.board.name);
    const approval = await held(agent, addBob(s));
    server.clock.advance(3_600_000);
    const { closed_reason, decided_at } = await look(s.ana, approval);
    expect(closed_reason).to.equal('key_ended');
    expect(Date.parse(decided_at ?? '')).to.be.at.most(server.clock.now());
  });

  it('ended when its time was over, whatever else ends before anybody looked', async () => {
    const s = await scene(server);
    const approval = await held(s.agent, addBob(s));
    const expires_at = server.clock.now() - 1;
    await server.db.write((tx) => tx.change((db) => db('approvals').where('id', approval.id).update({ expires_at })));
    await s.agent.ok('leaveSeat', { body: {} });
    const { state, closed_reason, decided_at } = await look(s.ana, approval);
    expect([state, closed_reason, Date.parse(decided_at ?? '')]).to.deep.equal(['expired', 'timeout', expires_at]);
  });

  it('stays pending when it cannot be done now: no admin any more, an archived board', async () => {
    const s = await scene(server);
    const invite = await held(s.agent, invitePeople());
    const add = await held(s.agent, addBob(s));
    await setPerson(server, s.ana, { server_role: 'member' });
    expect(codeOf(await allow(s.ana, invite))).to.equal('403 server_admin_required');
    expect((await look(s.ana, invite)).state).to.equal('pending');
    await changeBoard(server, s.board.name, { lifecycle: 'archived' });
    expect(codeOf(await allow(s.ana, add))).to.equal('409 board_archived');
    expect(codeOf(await ask(s.agent, addBob(s)))).to.equal('409 board_archived');
    await changeBoard(server, s.board.name, { lifecycle: 'active' });
    expect((await allow(s.ana, add)).status).to.equal(200);
  });

  it('is not held up by the archive of the board it was asked on', async () => {
    const s = await scene(server);
    const elsewhere = await newBoard(s.ana);
    const body: Wanted = { kind: 'add_people', board_id: elsewhere.id, person_id: s.bob.personId };
    const approval = await held(s.agent, body);
    await changeBoard(server, s.board.name, { lifecycle: 'archived' });
    expect((await allow(s.ana, approval)).status).to.equal(200);
    const [added] = await eventsOf(s.ana, elsewhere.name, 'person.added');
    expect(added?.actor).to.include({ kind: 'human' });
    expect(added?.data).not.to.have.property('by_owner');
  });

  it('needs the own key for what a browser may not do, and is not changed by trying', async () => {
    const s = await scene(server);
    const browser = await newBrowser(server, s.ana);
    const role = await held(s.agent, { kind: 'set_server_role', person_id: s.bob.personId, role: 'admin' });
    const answer = await allow(browser, role);
    expect([answer.status, answer.body.state]).to.deep.equal([202, 'pending']);
    expect(answer.body.next?.command).to.include(`approvals allow ${role.id}`);
    expect((await look(s.ana, role)).state).to.equal('pending');
    expect((await allow(s.ana, role)).body.state).to.equal('executed');
    const add = await held(s.agent, addBob(s));
    expect((await allow(browser, add)).status).to.equal(200);
  });

  // On SQLite one write runs at a time.
  if (engine === 'postgres')
    it('that needs the own key waits for nothing else that its person does', async () => {
      const s = await scene(server);
      const browser = await newBrowser(server, s.ana);
      const person_id = s.ana.personId ?? '';
      const { current_key_id: key_id } = await s.ana.ok('listKeys');
      const wanted: Wanted[] = [
        { kind: 'revoke_key', key_id },
        { kind: 'set_server_role', person_id, role: 'member' },
        { kind: 'remove_person', person_id },
      ];
      for (const each of wanted) {
        const approval = await held(s.agent, each);
        const answer = await server.db.write(async (tx) => {
          // As every write of the person does.
          await findKey(tx, server.root.digest(s.ana.token ?? ''));
          return allow(browser, approval);
        });
        expect([answer.status, answer.body.state], each.kind).to.deep.equal([202, 'pending']);
      }
    });

  it('is declined once; a declined or expired one is never executed, an executed one never declined', async () => {
    const s = await scene(server);
    const approval = await held(s.agent, addBob(s));
    const call = { params: { approval: approval.id }, key: 'no' };
    const declined = await s.ana.call('declineApproval', call);
    expect(declined.body.state).to.equal('declined');
    expect((await s.ana.call('declineApproval', call)).replayed).to.equal(true);
    expect((await decline(s.ana, approval)).status).to.equal(200);
    expect(codeOf(await allow(s.ana, approval))).to.equal('409 approval_closed');
    const other = await held(s.agent, addBob(s));
    await allow(s.ana, other);
    const late = await decline(s.ana, other);
    expect(codeOf(late)).to.equal('409 approval_closed');
    expect(late.text).to.include('is executed already').and.not.include('nothing was done');
  });

  it('that was declined names its board in no repeat to a person who has left it', async () => {
    const s = await scene(server);
    const there = await newBoard(server.dana, { visibility: 'private' });
    await putOnBoard(server, there.name, s.ana);
    const agent = await newAgent(s.ana, there.name);
    const approval = await held(agent, { kind: 'set_server_role', person_id: s.bob.personId, role: 'admin' });
    const call = { params: { approval: approval.id }, key: 'no' };
    expect((await s.ana.ok('declineApproval', call)).display?.requested_on?.id).to.equal(there.id);
    expect((await s.ana.call('declineApproval', call)).replayed).to.equal(true);
    await s.ana.ok('leaveBoard', { params: { board: there.name } });
    expect((await s.ana.ok('declineApproval', { ...call, key: 'no again' })).display).not.to.have.property(
      'requested_on',
    );
    expect(await s.ana.refused('declineApproval', call)).to.equal('404 board_not_found');
  });

  it('is for its person alone, by any of their credentials, and for its own agent to look at', async () => {
    const s = await scene(server);
    const other = await newAgent(s.ana, s.board.name);
    const approval = await held(s.agent, addBob(s));
    for (const api of [s.bob, server.dana, other]) {
      expect(await api.refused('getApproval', { params: { approval: approval.id } })).to.equal(
        '404 approval_not_found',
      );
    }
    expect(codeOf(await allow(s.bob, approval))).to.equal('404 approval_not_found');
    expect(codeOf(await decline(s.bob, approval))).to.equal('404 approval_not_found');
    expect((await look(s.agent, approval)).id).to.equal(approval.id);
    expect((await s.agent.ok('listApprovals')).approvals).to.have.length(1);
    expect((await other.ok('listApprovals')).approvals).to.deep.equal([]);
    const guest = await server.person('gil', 'guest');
    expect(await guest.refused('listApprovals')).to.equal('403 guest_not_allowed');
  });

  it('is decided by people only, who are told what to run', async () => {
    const s = await scene(server);
    const approval = await held(s.agent, addBob(s));
    const end = `--server '${server.url}'`;
    for (const [answer, command] of [
      [await allow(s.agent, approval), `service approvals allow ${approval.id} ${end}`],
      [await decline(s.agent, approval), `service approvals decline ${approval.id} ${end}`],
      [await s.agent.call('getAllowance'), `service allowance show ${end}`],
      [await s.agent.call('setAllowance', { body: { categories: [] } }), `service allowance show ${end}`],
      [await s.agent.call('clearAllowance'), `service allowance off ${end}`],
      [await s.agent.call('listAllowanceRevisions'), `service allowance history ${end}`],
    ] as const) {
      expect(codeOf(answer)).to.equal('403 human_token_required');
      expect(nextOf(answer)?.command).to.equal(command);
    }
    const delegation = await newDelegation(server, s.ana);
    expect(codeOf(await allow(delegation, approval))).to.equal('403 human_token_required');
    expect(codeOf(await decline(delegation, approval))).to.equal('403 forbidden');
    expect(codeOf(await ask(s.ana, addBob(s)))).to.equal('403 agent_token_required');
  });

  it('is listed: pending first, oldest first; then decided, newest first, for seven days', async () => {
    const s = await scene(server);
    const ids: string[] = [];
    for (let n = 0; n < 6; n++) {
      ids.push((await held(s.agent, invitePeople({ ttl_seconds: 3_600 + n }))).id);
      server.clock.advance(1_000);
    }
    for (const n of [1, 3]) {
      await decline(s.ana, { id: ids[n] ?? '' });
      server.clock.advance(1_000);
    }
    const order = [0, 2, 4, 5, 3, 1].map((n) => ids[n]);
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const page: { approvals: { id: string }[]; next_after: string | null } = await s.ana.ok('listApprovals', {
        query: { limit: 4, ...(after === null ? {} : { after }) },
      });
      seen.push(...page.approvals.map(({ id }) => id));
      after = page.next_after;
    } while (after !== null);
    expect(seen).to.deep.equal(order);
    const { approvals } = await s.ana.ok('listApprovals', { query: { state: 'pending' } });
    expect(approvals).to.have.length(4);
    server.clock.advance(7 * DAY);
    const left = await s.ana.ok('listApprovals', { query: { state: 'decided' } });
    expect(left.approvals.map(({ id }) => id)).not.to.include(ids[1]);
    expect((await look(s.ana, { id: ids[1] ?? '' })).state).to.equal('declined');
  });

  it('is left out while the person does not see its board', async () => {
    const s = await scene(server);
    const hidden = await newBoard(s.ana, { visibility: 'private' });
    const body: Wanted = { kind: 'add_people', board_id: hidden.id, person_id: s.bob.personId };
    const approval = await held(s.agent, body);
    const eve = await server.person('eve-2');
    await putOnBoard(server, hidden.name, eve);
    await s.ana.ok('makeBoardOwner', { params: { board: hidden.name }, body: { handle: 'eve-2' } });
    await s.ana.ok('leaveBoard', { params: { board: hidden.name } });
    expect((await s.ana.ok('listApprovals')).approvals).to.deep.equal([]);
    expect(codeOf(await allow(s.ana, approval))).to.equal('404 approval_not_found');
  });

  it('is one of at most twenty that wait for one agent', async () => {
    const s = await scene(server);
    for (let n = 0; n < 20; n++) await held(s.agent, invitePeople({ ttl_seconds: 3_600 + n }));
    const answer = await ask(s.agent, invitePeople());
    expect([codeOf(answer), answer.headers.get('retry-after')]).to.deep.equal(['429 rate_limited', '3600']);
  });
});
