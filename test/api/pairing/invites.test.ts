/** Invites that bring work along: the request waits for whoever comes, goes on with them, and ends with the invite. */
import { expect } from 'chai';
import { Api } from '../../support/api.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, revokeKey } from '../../support/state.ts';
import { allow, ask, collect, held, invitePeople, scene } from '../approvals/cast.ts';
import { type ClientConnected, connect, invite, preview, secretOf, setPerson } from '../invites/cast.ts';
import { codeOf, look, newSide, select } from './cast.ts';
import { rowOf, type Stand, standIn } from './stand.ts';

let people = 0;

forEachDatabase('an invite that brings work along', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const show = async ({ pair, id }: Stand) => look(pair.initiator.person, { id });
  const newcomer = () => `maya-${++people}`;

  it('has a request that waits for its redeemer, until the invite ends', async () => {
    const stand = await standIn(server, 'awaiting_account', { initiator: false });
    const request = await show(stand);
    const metadata = await stand.pair.initiator.person.ok('getInvite', { params: { invite: stand.inviteId } });
    expect(request).to.include({ state: 'awaiting_account', awaiting: 'recipient', invite_id: stand.inviteId });
    expect([request.expires_at, metadata.pairing_request_id]).to.deep.equal([metadata.expires_at, stand.id]);
    expect(request).not.to.have.property('recipient_id');
    expect(request.next?.command).to.match(/^service invite list --server '/);
    expect((await preview(server, stand.secret)).body.work).to.equal('review the plan');
  });

  it('may have its initiator selected before anybody comes, and goes on with who comes for a week', async () => {
    const stand = await standIn(server, 'awaiting_account');
    server.clock.advance(3_600_000);
    const client_token = `abh_${Buffer.alloc(32, ++people).toString('base64url')}`;
    const { body } = await connect(server, { invite: stand.secret, handle: newcomer(), client_token });
    const { onboarding } = body as ClientConnected;
    expect(onboarding.pairing_request_id).to.equal(stand.id);
    const request = await show(stand);
    expect(request).to.include({
      state: 'awaiting_session',
      recipient_id: onboarding.person_id,
      awaiting: 'recipient',
    });
    expect(request.initiator?.live).to.equal(true);
    expect(Date.parse(request.expires_at) - server.clock.now()).to.be.within(7 * 86_400_000 - 5_000, 7 * 86_400_000);
    const maya = new Api(server.url, client_token, onboarding.person_id);
    expect((await maya.ok('getOnboardingReceipt')).pairing_request_id).to.equal(stand.id);
    expect((await look(maya, stand)).id).to.equal(stand.id);
    await maya.ok('leaveBoard', { params: { board: stand.pair.board.name } });
    await changeBoard(server, stand.pair.board.name, { visibility: 'private' });
    expect(await maya.ok('getOnboardingReceipt')).not.to.have.property('pairing_request_id');
  });

  it('ends its request when it is revoked, when its seat ends and with its person; a demotion only stops it', async () => {
    for (const end of ['revoked', 'seat', 'key revoked with its invites'] as const) {
      const stand = await standIn(server, 'awaiting_account');
      const { person, agentId } = stand.pair.initiator;
      if (end === 'revoked') await person.ok('revokeInvite', { params: { invite: stand.inviteId } });
      if (end === 'seat')
        await person.ok('removeMember', { params: { board: stand.pair.board.name, member: agentId } });
      if (end === 'key revoked with its invites') {
        const { keys } = await person.ok('listKeys');
        const spare = new Api(server.url, (await person.ok('createKey', { body: { name: 'spare' } })).token);
        await spare.ok('revokeKey', { params: { key: keys[0]?.id ?? '' }, query: { revoke_invites: true } });
      }
      expect(await rowOf(server, stand.id), end).to.include({ closed: 'cancelled', closed_reason: 'invite_ended' });
      expect(codeOf(await preview(server, stand.secret)), end).to.equal('404 invite_invalid');
    }
    const demoted = await standIn(server, 'awaiting_account');
    await setPerson(server, demoted.pair.initiator.person, { server_role: 'member' });
    expect((await show(demoted)).state).to.equal('awaiting_account');
    expect(codeOf(await preview(server, demoted.secret))).to.equal('404 invite_invalid');
    await setPerson(server, demoted.pair.initiator.person, { server_role: 'admin' });
    expect((await preview(server, demoted.secret)).status).to.equal(200);
  });

  it('still brings somebody when its work was taken back, which is proposed to nobody then', async () => {
    const stand = await standIn(server, 'cancelled', { early: true });
    expect((await preview(server, stand.secret)).body).not.to.have.property('work');
    const { status, body } = await connect(server, { invite: stand.secret, handle: newcomer() });
    expect(status).to.equal(201);
    expect(body).not.to.have.property('pairing_request_id');
    expect(await rowOf(server, stand.id)).to.include({ closed: 'cancelled', recipient_id: null });
  });

  it('brings nothing where one of its boards can no longer be entered, and stays whole', async () => {
    const stand = await standIn(server, 'awaiting_account');
    await changeBoard(server, stand.pair.board.name, { lifecycle: 'archived' });
    const before = await rowOf(server, stand.id);
    expect(codeOf(await connect(server, { invite: stand.secret, handle: newcomer() }))).to.equal('404 invite_invalid');
    expect(await rowOf(server, stand.id)).to.deep.equal(before);
    await changeBoard(server, stand.pair.board.name, { lifecycle: 'active' });
    expect((await connect(server, { invite: stand.secret, handle: newcomer() })).status).to.equal(201);
  });

  it('that an agent asked for names its request to that agent, and tells it who came', async () => {
    const s = await scene(server);
    const wish = invitePeople({
      boards: [s.board.id],
      pairing: { initiating_agent_id: s.agent.memberId, work: 'review the plan' },
    });
    const approval = await held(s.agent, wish);
    const allowed = await allow(s.ana, approval);
    const id = allowed.body.invite?.pairing_request_id ?? '';
    expect(id).to.match(/^prq_/);
    const got = await collect(s.agent, approval, 'once');
    expect([got.body.pairing_request_id, got.body.invite?.pairing_request_id]).to.deep.equal([id, id]);
    expect((await s.agent.ok('getApproval', { params: { approval: approval.id } })).pairing_request_id).to.equal(id);
    expect((await look(s.agent, { id })).state).to.equal('awaiting_account');
    await connect(server, { invite: secretOf(got.body.invite as never), handle: newcomer() });
    const { notices } = await s.agent.ok('listNotices');
    const came = notices.find(({ kind }) => kind === 'invite_redeemed');
    expect(came?.pairing_request_id).to.equal(id);
    expect(came?.next.command).to.match(/^service pairing list --state all --server '/);
  });

  it('that an agent asked for ends its request with the key behind the agent', async () => {
    const s = await scene(server);
    const wish = invitePeople({
      boards: [s.board.id],
      pairing: { initiating_agent_id: s.agent.memberId, work: 'review the plan' },
    });
    const allowed = await allow(s.ana, await held(s.agent, wish));
    const id = allowed.body.invite?.pairing_request_id ?? '';
    await revokeKey(server, s.ana);
    expect(await rowOf(server, id)).to.include({ closed: 'cancelled', closed_reason: 'invite_ended' });
  });

  it('under an allowance begins its request at once', async () => {
    const s = await scene(server);
    await s.ana.ok('setAllowance', { body: { categories: ['invite_people', 'add_people'] } });
    const pairing = { initiating_agent_id: s.agent.memberId, work: 'review the plan' };
    const { status, body } = await ask(s.agent, invitePeople({ boards: [s.board.id], pairing }));
    expect(status).to.equal(201);
    expect((await look(s.ana, { id: body.invite?.pairing_request_id ?? '' })).state).to.equal('awaiting_account');
  });

  it('holds no secret of the service in what its work says', async () => {
    const { pair } = await standIn(server, 'awaiting_account');
    const { person, agentId } = pair.initiator;
    const pairing = { initiating_agent_id: agentId, work: `use ${person.token}` };
    const answer = await person.call('createInvite', { body: { boards: [pair.board.id], pairing } });
    expect(codeOf(answer)).to.equal('400 invalid_request');
    expect(answer.text).not.to.include(person.token);
  });

  it('counts among the open requests of its issuer', async () => {
    const ina = await server.person(`ida-${++people}`, 'admin');
    const { id, name } = await ina.ok('createBoard', { body: { name: `many-${people}` } });
    const side = await newSide(ina, name);
    const pairing = { initiating_agent_id: side.agentId, work: 'x' };
    for (let n = 0; n < 50; n++) await invite(ina, { boards: [id], pairing });
    expect(await ina.refused('createInvite', { body: { boards: [id], pairing } })).to.equal('429 rate_limited');
    expect((await invite(ina, { boards: [id] })).id).to.match(/^inv_/);
  });

  it('leads from end to end to two sessions that reach each other', async () => {
    const stand = await standIn(server, 'ready');
    expect((await show(stand)).state).to.equal('ready');
    expect(await select(server, stand.pair, stand, 'initiator').catch((error: Error) => error.message)).to.include(
      'pairing_closed',
    );
  });
});
