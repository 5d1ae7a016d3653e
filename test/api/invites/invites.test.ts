import { expect } from 'chai';
import type { NextStep } from '../../../src/contract/errors.ts';
import { Api } from '../../support/api.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, memberIdOf, newBrowser, putOnBoard, revokeKey } from '../../support/state.ts';
import { told } from '../../support/told.ts';
import { type Connected, connect, everything, invite, preview, secretOf, setInvite, setPerson } from './cast.ts';

forEachDatabase('a server invite', (engine) => {
  let server: TestServer;
  let ana: Api;
  let people = 0;
  before(async () => {
    server = await startTestServer(engine);
  });
  beforeEach(async () => {
    ana = await server.person(`ana-${++people}`, 'admin');
  });
  after(() => server.stop());

  it('is a link whose secret stands in the fragment, with a text for its recipient', async () => {
    const made = await invite(ana, { suggested_handle: 'maya' });
    expect(made.invite).to.match(new RegExp(`^${server.url}/join#abi_[A-Za-z0-9_-]{43}$`));
    expect(made).to.include({ server_role: 'member', suggested_handle: 'maya' });
    expect(made.boards).to.deep.equal([]);
    expect(Date.parse(made.expires_at) - server.clock.now()).to.be.within(604_795_000, 604_801_000);
    for (const text of [
      `invites you to the board service at ${new URL(server.url).host}.`,
      `@ana-${people}`,
      'maya',
      `service connect '${made.invite}'`,
      `service setup '${made.invite}'`,
      'sandbox',
      made.expires_at.slice(0, 10),
    ]) {
      expect(made.prompt).to.include(text);
    }
    expect(made.prompt, 'one name of the server').not.to.include('localhost');
  });

  it('leaves its work out of the text, and no secret in the database or the log', async () => {
    const board = await newBoard(ana);
    const agent = await newAgent(ana, board.name);
    const pairing = { initiating_agent_id: agent.memberId, work: 'the very secret plan' };
    const made = await invite(ana, { boards: [board.id], pairing });
    expect(made.prompt).not.to.include('plan');
    expect(await everything(server)).not.to.include(secretOf(made));
    const look = await preview(server, secretOf(made));
    expect(look.body.work).to.equal('the very secret plan');
    expect(look.body.prompt).to.equal(made.prompt);
  });

  it('is for admins to make, by their own key, decided as they are now', async () => {
    const member = await server.person(`mia-${people}`);
    const guest = await server.person(`gus-${people}`, 'guest');
    expect(await member.refused('createInvite', { body: {} })).to.equal('403 server_admin_required');
    expect(await guest.refused('createInvite', { body: {} })).to.equal('403 guest_not_allowed');
    await setPerson(server, ana, { server_role: 'member' });
    expect(await ana.refused('createInvite', { body: {} })).to.equal('403 server_admin_required');
  });

  it('tells an agent or a browser which command its person runs', async () => {
    const board = await newBoard(ana);
    const { id } = await invite(ana);
    const nextOf = async (api: Api, name: 'createInvite' | 'listInvites' | 'getInvite' | 'revokeInvite') => {
      const answer = await api.call(name, { params: { invite: id }, body: name === 'createInvite' ? {} : undefined });
      expect(`${answer.status} ${answer.code}`).to.equal('403 human_token_required');
      return (answer.body as unknown as { error: { next: NextStep } }).error.next;
    };
    for (const api of [await newAgent(ana, board.name), await newBrowser(server, ana)]) {
      const where = `--server '${server.url}'`;
      expect((await nextOf(api, 'createInvite')).command).to.equal(`service invite --person ${where}`);
      expect((await nextOf(api, 'listInvites')).command).to.equal(`service invite list ${where}`);
      expect((await nextOf(api, 'getInvite')).command).to.equal(`service invite show ${id} ${where}`);
      expect((await nextOf(api, 'revokeInvite')).command).to.equal(`service invite revoke ${id} ${where}`);
    }
    const odd = await (await newAgent(ana, board.name)).call('getInvite', { params: { invite: "x'; rm -rf ~" } });
    expect((odd.body as unknown as { error: { next: NextStep } }).error.next.command).to.include(
      "service invite show 'x'\\''; rm -rf ~' --server",
    );
  });

  it('lives from a minute to thirty days', async () => {
    for (const ttl_seconds of [59, 2_592_001, 1.5]) {
      expect(await ana.refused('createInvite', { body: { ttl_seconds } })).to.equal('400 invalid_request');
    }
    for (const ttl_seconds of [60, 2_592_000]) {
      const { expires_at } = await invite(ana, { ttl_seconds });
      expect(Date.parse(expires_at) - server.clock.now()).to.be.within(
        (ttl_seconds - 5) * 1000,
        (ttl_seconds + 1) * 1000,
      );
    }
  });

  it('leads only onto active boards its maker is on: a hidden one is as missing as any, also for an admin', async () => {
    const bob = await server.person(`bob-${people}`);
    const hidden = await newBoard(bob, { visibility: 'private' });
    const open = await newBoard(bob);
    const own = await newBoard(ana);
    const missing = told(await ana.call('createInvite', { body: { boards: ['brd_01K5A0000000000000000000B1'] } }));
    expect(missing).to.include({ status: 404 });
    expect(told(await ana.call('createInvite', { body: { boards: [own.id, hidden.id] } }))).to.deep.equal(missing);
    expect(await ana.refused('createInvite', { body: { boards: [open.id] } })).to.equal('403 not_on_board');
    await changeBoard(server, own.name, { lifecycle: 'archived' });
    expect(await ana.refused('createInvite', { body: { boards: [own.id] } })).to.equal('409 board_archived');
    expect((await ana.ok('listInvites')).invites).to.deep.equal([]);
  });

  it('leads onto at most 20 boards, each named once', async () => {
    const boards: string[] = [];
    for (let n = 0; n < 20; n++) boards.push((await newBoard(ana)).id);
    expect((await invite(ana, { boards })).boards).to.deep.equal(boards);
    const one = boards[0] as string;
    for (const wrong of [[...boards, 'brd_01K5A0000000000000000000B1'], [one, one], ['not-an-id']]) {
      expect(await ana.refused('createInvite', { body: { boards: wrong } })).to.equal('400 invalid_request');
    }
  });

  it('pairs with exactly one board and an active agent of its maker on it', async () => {
    const [board, other] = [await newBoard(ana), await newBoard(ana)];
    const bob = await server.person(`bea-${people}`);
    await putOnBoard(server, board.name, bob);
    const agent = await newAgent(ana, board.name);
    const pair = (boards: string[], initiating_agent_id: string) => ({
      body: { boards, pairing: { initiating_agent_id, work: 'x' } },
    });
    expect(await ana.refused('createInvite', pair([], agent.memberId))).to.equal('422 invalid_request');
    expect(await ana.refused('createInvite', pair([board.id, other.id], agent.memberId))).to.equal(
      '422 invalid_request',
    );
    const ended = await newAgent(ana, board.name);
    await endMember(server, ended.memberId);
    const answers = [];
    for (const id of [
      'mem_01K5A0000000000000000000M1',
      (await newAgent(bob, board.name)).memberId,
      (await newAgent(ana, other.name)).memberId,
      ended.memberId,
      await memberIdOf(server, board.name, ana),
    ]) {
      answers.push(told(await ana.call('createInvite', pair([board.id], id))));
    }
    expect(answers[0]?.text).to.include('"pairing_not_found"');
    for (const answer of answers) expect(answer).to.deep.equal(answers[0]);
    expect(
      await ana.refused('createInvite', {
        body: { boards: [board.id], pairing: { initiating_agent_id: agent.memberId, work: '' } },
      }),
    ).to.equal('400 invalid_request');
    await ana.ok('createInvite', pair([board.id], agent.memberId));
  });

  it('is one of at most 200 that are active', async () => {
    await server.db.write(async (tx) => {
      const rows = Array.from({ length: 199 }, (_unused, n) => ({
        id: `inv_${people}${String(n).padStart(20, '0')}`,
        digest: server.root.digest(`invite ${people} ${n}`),
        created_by: ana.personId ?? '',
        parent_key_id: 'key_x',
        created_at: tx.now,
        expires_at: tx.now + 60_000,
        boards: '[]',
      }));
      for (let n = 0; n < rows.length; n += 50) {
        await tx.change((db) => db('server_invites').insert(rows.slice(n, n + 50)));
      }
    });
    const answers = await Promise.all(Array.from({ length: 5 }, () => ana.call('createInvite', { body: {} })));
    expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
    expect(new Set(answers.filter(({ status }) => status !== 201).map(({ code }) => code))).to.deep.equal(
      new Set(['limit_reached']),
    );
    server.clock.advance(60_000);
    await invite(ana);
  });

  it('makes another with every call, whatever key came with it', async () => {
    const call = { body: {}, key: 'same' };
    const [one, two] = [await ana.ok('createInvite', call), await ana.ok('createInvite', call)];
    expect(one.invite).not.to.equal(two.invite);
  });

  it('is listed by its maker, newest first, in every state and by state, without its secret', async () => {
    const board = await newBoard(ana);
    // Ids of one millisecond have no order.
    const later = (body = {}) => {
      server.clock.advance(1);
      return invite(ana, body);
    };
    const [active, used, revoked, expired] = [
      await later({ boards: [board.id], suggested_handle: 'maya' }),
      await later(),
      await later(),
      await later({ ttl_seconds: 60 }),
    ];
    await connect(server, { invite: used.invite, handle: `used-${people}` });
    await ana.ok('revokeInvite', { params: { invite: revoked.id } });
    server.clock.advance(60_000);
    const { invites, next_after } = await ana.ok('listInvites');
    expect(next_after).to.equal(null);
    expect(invites.map(({ id, state }) => [id, state])).to.deep.equal([
      [expired.id, 'expired'],
      [revoked.id, 'revoked'],
      [used.id, 'redeemed'],
      [active.id, 'active'],
    ]);
    expect(invites[3]).to.include({ suggested_handle: 'maya', expires_at: active.expires_at });
    expect(invites[3]?.boards).to.deep.equal([board.id]);
    for (const [state, id] of [
      ['active', active.id],
      ['redeemed', used.id],
      ['revoked', revoked.id],
      ['expired', expired.id],
    ] as const) {
      const found = await ana.ok('listInvites', { query: { state } });
      expect(found.invites.map((row) => row.id)).to.deep.equal([id]);
      expect((await ana.ok('getInvite', { params: { invite: id } })).state).to.equal(state);
    }
    expect(JSON.stringify(invites)).not.to.include('abi_');
    expect(await ana.refused('listInvites', { query: { state: 'open' } })).to.equal('400 invalid_request');
  });

  it('is listed page by page while others are made', async () => {
    const made: string[] = [];
    for (let n = 0; n < 5; n++) made.push((await invite(ana)).id);
    // Newest first; of one moment by their ids.
    made.sort().reverse();
    const first = await ana.ok('listInvites', { query: { limit: 2 } });
    await invite(ana);
    const second = await ana.ok('listInvites', { query: { limit: 2, after: first.next_after ?? '' } });
    const third = await ana.ok('listInvites', { query: { limit: 2, after: second.next_after ?? '' } });
    const seen = [first, second, third].flatMap((page) => page.invites.map(({ id }) => id));
    expect([seen, third.next_after]).to.deep.equal([made, null]);
    expect(await ana.refused('listInvites', { query: { after: 'nonsense' } })).to.equal('400 invalid_request');
  });

  it('counts as redeemed before revoked, and as revoked before expired', async () => {
    const made = await invite(ana, { ttl_seconds: 60 });
    const stateNow = async () => (await ana.ok('getInvite', { params: { invite: made.id } })).state;
    await setInvite(server, made, { revoked_at: server.clock.now() });
    server.clock.advance(60_000);
    expect(await stateNow()).to.equal('revoked');
    await setInvite(server, made, { used_at: server.clock.now() });
    expect(await stateNow()).to.equal('redeemed');
  });

  it('names its boards only while its maker sees them', async () => {
    const [hidden, open] = [await newBoard(ana, { visibility: 'private' }), await newBoard(ana)];
    const made = await invite(ana, { boards: [hidden.id, open.id] });
    await endMember(server, await memberIdOf(server, open.name, ana));
    const board = async () => (await ana.ok('getInvite', { params: { invite: made.id } })).boards;
    expect(await board()).to.deep.equal([hidden.id, open.id]);
    await server.db.write((tx) =>
      tx.change((db) => db('members').where({ board_id: hidden.id }).update({ status: 'left', removed_at: tx.now })),
    );
    expect(await board()).to.deep.equal([open.id]);
    expect((await ana.ok('listInvites')).invites[0]?.boards).to.deep.equal([open.id]);
  });

  it('stays in its maker’s hands when they are no admin any more, and outlives the key that made it', async () => {
    const made = await invite(ana);
    const { id } = await ana.ok('getMe');
    const key = (
      await server.db.read((tx) =>
        tx.query<{ id: string }>((db) => db('access_keys').where('person_id', id).select('id')),
      )
    )[0];
    expect((await ana.ok('getInvite', { params: { invite: made.id } })).parent_key_id).to.equal(key?.id);
    await setPerson(server, ana, { server_role: 'member' });
    expect((await preview(server, secretOf(made))).code).to.equal('invite_invalid');
    expect((await ana.ok('listInvites')).invites[0]?.state).to.equal('active');
    await setPerson(server, ana, { server_role: 'admin' });
    expect((await preview(server, secretOf(made))).status).to.equal(200);
    await setPerson(server, ana, { server_role: 'member' });
    expect((await ana.ok('revokeInvite', { params: { invite: made.id } })).changed).to.equal(true);

    const zoe = await server.person(`zoe-${people}`, 'admin');
    const other = await invite(zoe);
    await revokeKey(server, zoe);
    expect((await preview(server, secretOf(other))).status).to.equal(200);
  });

  it('suggests another handle, or none, as long as it is active', async () => {
    const made = await invite(ana, { suggested_handle: 'maya' });
    const update = (api: Api, suggested_handle: string, id = made.id) =>
      api.call('updateInvite', { params: { invite: id }, body: { suggested_handle } });
    const browser = await newBrowser(server, ana);
    expect((await update(ana, 'may')).body.suggested_handle).to.equal('may');
    expect((await update(browser, 'maja')).body.suggested_handle).to.equal('maja');
    expect((await preview(server, secretOf(made))).body.suggested_handle).to.equal('maja');
    expect((await update(ana, '')).body).not.to.have.property('suggested_handle');
    for (const wrong of ['Maya!', 'system', 'x'.repeat(41)]) {
      expect((await update(ana, wrong)).code).to.equal('invalid_request');
    }
    const board = await newBoard(ana);
    const agent = await newAgent(ana, board.name);
    const zoe = await server.person(`zed-${people}`, 'admin');
    const missing = told(await update(ana, 'may', 'inv_01K5A0000000000000000000V1'));
    expect(missing).to.include({ status: 404 });
    for (const api of [zoe, agent]) expect(told(await update(api, 'may'))).to.deep.equal(missing);
    await setInvite(server, made, { issuing_agent_id: agent.memberId });
    expect((await update(agent, 'mine')).body).to.include({
      suggested_handle: 'mine',
      issuing_agent_id: agent.memberId,
    });
    await ana.ok('revokeInvite', { params: { invite: made.id } });
    for (const api of [ana, agent]) expect(told(await update(api, 'may'))).to.deep.equal(missing);
  });

  it('is not shown again with a board that its maker does not see any more', async () => {
    const board = await newBoard(ana, { visibility: 'private' });
    const made = await invite(ana, { boards: [board.id] });
    const call = { params: { invite: made.id }, body: { suggested_handle: 'may' }, key: 'same' };
    const first = await ana.call('updateInvite', call);
    expect(first.body.boards).to.deep.equal([board.id]);
    expect((await ana.call('updateInvite', call)).text).to.equal(first.text);
    await server.db.write((tx) =>
      tx.change((db) => db('members').where({ board_id: board.id }).update({ status: 'left', removed_at: tx.now })),
    );
    expect(await ana.refused('updateInvite', call)).to.equal('404 board_not_found');
    expect((await ana.ok('updateInvite', { ...call, key: 'other' })).boards).to.deep.equal([]);
  });

  it('is revoked by its maker, again without effect, and after its use too late', async () => {
    const made = await invite(ana);
    const call = { params: { invite: made.id } };
    expect(await ana.ok('revokeInvite', call)).to.deep.equal({ id: made.id, revoked: true, changed: true });
    expect(await ana.ok('revokeInvite', call)).to.deep.equal({ id: made.id, revoked: true, changed: false });
    expect((await connect(server, { invite: made.invite, handle: `late-${people}` })).code).to.equal('invite_invalid');

    const used = await invite(ana);
    const { body } = await connect(server, { invite: used.invite, handle: `kept-${people}` });
    expect((await ana.ok('revokeInvite', { params: { invite: used.id } })).changed).to.equal(false);
    expect((await ana.ok('getInvite', { params: { invite: used.id } })).state).to.equal('redeemed');
    const { key } = body as Connected;
    expect((await new Api(server.url, key.token).call('getMe')).status).to.equal(200);
  });

  it('is as good as missing to everybody else', async () => {
    const made = await invite(ana);
    const zoe = await server.person(`zac-${people}`, 'admin');
    for (const name of ['getInvite', 'revokeInvite'] as const) {
      const missing = told(await zoe.call(name, { params: { invite: 'inv_01K5A0000000000000000000V1' } }));
      expect(missing).to.include({ status: 404 });
      expect(told(await zoe.call(name, { params: { invite: made.id } }))).to.deep.equal(missing);
      expect(await zoe.refused(name, { params: { invite: 'no-id' } })).to.equal('400 invalid_request');
    }
    expect((await zoe.ok('listInvites')).invites).to.deep.equal([]);
    expect((await preview(server, secretOf(made))).status).to.equal(200);
  });

  it('has its making, revoking and redeeming written down for the operator', async () => {
    const revoked = await invite(ana);
    // What happens within one millisecond has no order.
    server.clock.advance(1);
    const used = await invite(ana);
    server.clock.advance(1);
    await ana.ok('revokeInvite', { params: { invite: revoked.id }, key: 'once' });
    await ana.ok('revokeInvite', { params: { invite: revoked.id }, key: 'once' });
    server.clock.advance(1);
    const answer = await connect(server, { invite: used.invite, handle: `audited-${people}` });
    const rows = await server.db.read((tx) =>
      tx.query<Record<string, string | null>>((db) =>
        db('server_audit').whereIn('target_id', [revoked.id, used.id]).orderBy('id').select('*'),
      ),
    );
    expect(rows.map((row) => [row['action'], row['target_id'], row['actor_person_id']])).to.deep.equal([
      ['invite.created', revoked.id, ana.personId],
      ['invite.created', used.id, ana.personId],
      ['invite.revoked', revoked.id, ana.personId],
      ['invite.redeemed', used.id, null],
    ]);
    expect(rows[3]?.['request_id']).to.equal(answer.headers.get('x-request-id'));
  });
});
