/** Allowances: what a person's agents may do without asking. */
import { expect } from 'chai';
import { type Api, detailsOf } from '../../support/api.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { newBrowser } from '../../support/state.ts';
import { addBob, allow, ask, codeOf, eventsOf, held, invitePeople, look, scene } from '../approvals/cast.ts';
import { secretOf } from '../invites/cast.ts';

const put = (api: Api, categories: string[], revision?: number) =>
  api.call('setAllowance', { body: { categories, ...(revision === undefined ? {} : { revision }) } });

forEachDatabase('an allowance', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const agentsAdd = (agents_add_people: boolean) => server.dana.ok('updateSettings', { body: { agents_add_people } });

  it('is there and empty for everybody, at revision 0', async () => {
    const { ana } = await scene(server);
    const allowance = await ana.ok('getAllowance');
    expect(allowance).to.deep.include({ revision: 0, categories: [], effective: [], person_id: ana.personId });
    expect(allowance).not.to.have.property('warning');
    expect((await ana.ok('listAllowanceRevisions')).revisions).to.deep.equal([]);
    const guest = await server.person('gus', 'guest');
    expect(await guest.refused('getAllowance')).to.equal('403 guest_not_allowed');
  });

  it('has a revision for each real change, which says with what it was made', async () => {
    const { ana } = await scene(server);
    const browser = await newBrowser(server, ana);
    expect((await put(ana, ['invite_people', 'add_people'])).body).to.deep.include({
      revision: 1,
      categories: ['add_people', 'invite_people'],
    });
    expect((await put(ana, ['add_people', 'invite_people'])).body.revision).to.equal(1);
    expect((await put(browser, ['add_people'])).body.revision).to.equal(2);
    expect((await ana.call('clearAllowance')).body).to.deep.include({ revision: 3, categories: [] });
    expect((await ana.call('clearAllowance')).body.revision).to.equal(3);
    const first = await ana.ok('listAllowanceRevisions', { query: { limit: 2 } });
    expect(first.revisions.map(({ revision, changed_by }) => [revision, changed_by.with])).to.deep.equal([
      [3, 'key'],
      [2, 'browser'],
    ]);
    const rest = await ana.ok('listAllowanceRevisions', { query: { after: first.next_after ?? '' } });
    expect(rest.revisions.map(({ revision }) => revision)).to.deep.equal([1]);
    expect(rest.next_after).to.equal(null);
  });

  it('is not overwritten by somebody who read an older one', async () => {
    const { ana } = await scene(server);
    await put(ana, ['add_people'], 0);
    const stale = await put(ana, ['invite_people'], 0);
    expect(codeOf(stale)).to.equal('409 allowance_changed');
    expect(detailsOf(stale)).to.deep.equal({ revision: 1, categories: ['add_people'] });
    expect((await ana.ok('getAllowance')).categories).to.deep.equal(['add_people']);
    expect(codeOf(await put(ana, ['add_people', 'add_people']))).to.equal('400 invalid_request');
    expect(codeOf(await put(ana, ['remove_person']))).to.equal('400 invalid_request');
  });

  it('does at once what it covers, and the record says so', async () => {
    const s = await scene(server);
    await put(s.ana, ['add_people']);
    const answer = await ask(s.agent, addBob(s), 'once');
    expect([answer.status, answer.body.state]).to.deep.equal([201, 'executed']);
    const { approval } = answer.body;
    expect(approval).to.deep.include({ decision: 'allowance', decided_at: approval.created_at });
    const [added] = await eventsOf(s.ana, s.board.name, 'person.added');
    expect(added?.data).to.have.nested.property('authorization.via', 'allowance');
    expect(added?.data).to.have.nested.property('authorization.allowance_revision', 1);
    expect((await ask(s.agent, addBob(s), 'once')).status).to.equal(200);
    await s.ana.ok('clearAllowance');
    expect(codeOf(await ask(s.agent, addBob(s), 'once'))).to.equal('403 forbidden');
  });

  it('invites at once, shows the link once, and holds what it does not cover', async () => {
    const s = await scene(server);
    await put(s.ana, ['invite_people']);
    const plain = await ask(s.agent, invitePeople(), 'i1');
    expect([plain.status, plain.body.state]).to.deep.equal([201, 'executed']);
    expect(secretOf(plain.body.invite as never)).to.match(/^abi_/);
    const again = await ask(s.agent, invitePeople(), 'i1');
    expect([again.status, again.body.invite]).to.deep.equal([200, undefined]);
    expect((await look(s.agent, plain.body.approval)).outcome).to.deep.equal({ state: 'none' });
    // A board in it needs people to be added too.
    const bundled = await held(s.agent, invitePeople({ boards: [s.board.id] }));
    expect(bundled.state).to.equal('pending');
    await put(s.ana, ['invite_people', 'add_people']);
    expect((await ask(s.agent, invitePeople({ boards: [s.board.id] }))).status).to.equal(201);
  });

  it('covers boards that the agent may add people to by itself', async () => {
    const s = await scene(server, 'codex:s1');
    const { roles } = await s.ana.ok('getBoard', { params: { board: s.board.name } });
    const member = roles['member'] ?? { can: [] };
    const can = [...new Set([...member.can, 'add_people' as const])];
    await s.ana.ok('updateBoard', {
      params: { board: s.board.name },
      body: { agents_add_people: true, roles: { ...roles, member: { ...member, can } } },
    });
    await put(s.ana, ['invite_people']);
    const session = await newAgent(s.ana, s.board.name, { session: 'codex:s2', harness: 'codex' });
    expect((await ask(session, invitePeople({ boards: [s.board.id] }))).status).to.equal(201);
    const other = await newBoard(s.ana);
    expect((await ask(session, invitePeople({ boards: [s.board.id, other.id] }))).status).to.equal(202);
  });

  it('asks again while the server lets no agent add people', async () => {
    const s = await scene(server);
    await put(s.ana, ['add_people', 'invite_people']);
    await agentsAdd(false);
    expect((await s.ana.ok('getAllowance')).effective).to.deep.equal(['invite_people']);
    expect((await ask(s.agent, addBob(s))).status).to.equal(202);
    expect((await ask(s.agent, invitePeople({ boards: [s.board.id] }))).status).to.equal(202);
    expect((await ask(s.agent, invitePeople())).status).to.equal(201);
    await agentsAdd(true);
  });

  it('is turned on with an allowed request, in one step, and not for any other kind', async () => {
    const s = await scene(server);
    const role = await held(s.agent, { kind: 'set_server_role', person_id: s.bob.personId, role: 'admin' });
    expect(codeOf(await allow(s.ana, role, { always: true }))).to.equal('400 invalid_request');
    expect((await look(s.ana, role)).state).to.equal('pending');
    const approval = await held(s.agent, invitePeople());
    const answer = await allow(s.ana, approval, { always: true });
    expect([answer.status, answer.body.approval.decision]).to.deep.equal([201, 'always']);
    expect(answer.body.warning).to.be.a('string');
    const { categories, revision, warning } = await s.ana.ok('getAllowance');
    expect([categories, revision, typeof warning]).to.deep.equal([['invite_people'], 1, 'string']);
    const [change] = (await s.ana.ok('listAllowanceRevisions')).revisions;
    expect(change?.changed_by).to.deep.include({ with: 'key', approval_id: approval.id });
  });

  it('invites twenty times a day and no more', async () => {
    const s = await scene(server);
    await put(s.ana, ['invite_people']);
    for (let n = 0; n < 20; n++) expect((await ask(s.agent, invitePeople())).status).to.equal(201);
    expect((await ask(s.agent, invitePeople())).status).to.equal(202);
    server.clock.advance(86_400_000);
    expect((await ask(s.agent, invitePeople())).status).to.equal(201);
  });

  it('ends with its person', async () => {
    const s = await scene(server);
    await put(s.ana, ['add_people']);
    await server.dana.ok('removePerson', { params: { handle: (await s.ana.ok('getMe')).name ?? '' } });
    const [row] = await server.db.read((tx) =>
      tx.query<{ categories: string; revision: number }>((db) =>
        db('allowances')
          .where('person_id', s.ana.personId ?? '')
          .select('*'),
      ),
    );
    expect(row).to.include({ categories: '[]', revision: 2 });
  });
});
