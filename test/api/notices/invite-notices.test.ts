/** What a person is told of the invites that their agents asked for. */
import { expect } from 'chai';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { allow, ask, codeOf, held, invitePeople, scene } from '../approvals/cast.ts';
import { connect, invite, secretOf } from '../invites/cast.ts';

forEachDatabase('a notice of an invite', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  it('is there for each invite that an agent asked for, in every state, newest first', async () => {
    const s = await scene(server);
    await invite(s.ana);
    const first = await allow(s.ana, await held(s.agent, invitePeople({ boards: [s.board.id], ttl_seconds: 3_600 })));
    server.clock.advance(1_000);
    await s.ana.ok('setAllowance', { body: { categories: ['invite_people'] } });
    const second = await ask(s.agent, invitePeople({ suggested_handle: 'maya', ttl_seconds: 3_600 }), 'k');
    expect((await ask(s.agent, invitePeople({ suggested_handle: 'maya', ttl_seconds: 3_600 }), 'k')).status).to.equal(
      200,
    );
    const ids = [second.body.invite?.id, first.body.invite?.id];
    const { notices, next_after } = await s.ana.ok('listInviteNotices');
    expect([notices.map(({ id }) => id), next_after]).to.deep.equal([ids, null]);
    const [latest, earlier] = notices;
    expect(latest).to.deep.include({ state: 'active', suggested_handle: 'maya', issuing_agent_id: s.agent.memberId });
    expect(latest?.message).to.include('under your allowance');
    expect(latest?.next.command).to.equal(`service invite revoke ${ids[0]} --server '${server.url}'`);
    expect(latest?.next.resume).to.include('your own terminal').and.not.include('your person');
    expect(earlier?.message).to.include('you allowed it');
    expect(earlier?.display?.boards.map(({ name }) => name)).to.deep.equal([s.board.name]);
    expect(JSON.stringify(notices)).not.to.include('abi_');

    const page = await s.ana.ok('listInviteNotices', { query: { limit: 1 } });
    const rest = await s.ana.ok('listInviteNotices', { query: { limit: 1, after: page.next_after ?? '' } });
    expect([page.notices[0]?.id, rest.notices[0]?.id, rest.next_after]).to.deep.equal([...ids, null]);

    await connect(server, { invite: secretOf(first.body.invite as never), handle: 'newcomer' });
    server.clock.advance(3_600_000);
    const after = (await s.ana.ok('listInviteNotices')).notices;
    expect(after.map(({ state }) => state)).to.deep.equal(['expired', 'redeemed']);
    expect(after[0]?.next.command).to.include('service invite show inv_');
    expect((await s.bob.ok('listInviteNotices')).notices).to.deep.equal([]);
  });

  it('is for people who are no guests', async () => {
    const s = await scene(server);
    const refused = await s.agent.call('listInviteNotices');
    expect(codeOf(refused)).to.equal('403 human_token_required');
    expect(refused.text).to.include('service invite list --server');
    const guest = await server.person('gus', 'guest');
    expect(await guest.refused('listInviteNotices')).to.equal('403 guest_not_allowed');
  });
});
