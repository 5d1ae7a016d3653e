/** Collecting an allowed invite: once, by the agent that asked for it. */
import { expect } from 'chai';
import { Api } from '../../support/api.ts';
import { newAgent } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { changeBoard, putOnBoard } from '../../support/state.ts';
import { connect, everything, preview, secretOf, setPerson } from '../invites/cast.ts';
import { allow, capsule, codeOf, collect, held, invitePeople, look, type Scene, scene } from './cast.ts';

const MINUTE = 60_000;

forEachDatabase('a collection', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  async function allowed(s: Scene, invite: Record<string, unknown> = {}) {
    const approval = await held(s.agent, invitePeople(invite));
    const answer = await allow(s.ana, approval);
    expect(answer.status).to.equal(201);
    return { approval, secret: secretOf(answer.body.invite as never) };
  }

  it('shows the same invite once to the agent, whose link works', async () => {
    const s = await scene(server);
    const { approval, secret } = await allowed(s, { boards: [s.board.id], suggested_handle: 'maya' });
    expect((await look(s.agent, approval)).outcome.state).to.equal('held');
    const { body } = await collect(s.agent, approval, 'k');
    expect([body.collected, body.approval.outcome.state]).to.deep.equal([true, 'collected']);
    expect(secretOf(body.invite as never)).to.equal(secret);
    expect(body.invite).to.deep.include({ suggested_handle: 'maya', boards: [s.board.id], server_role: 'member' });
    const { status } = await connect(server, { invite: secret, handle: 'maya' });
    expect(status).to.equal(201);
    const events = await s.ana.ok('listEvents', { params: { board: s.board.name }, query: { type: 'person.added' } });
    expect(events.events.at(-1)?.data).to.have.nested.property('authorization.approval_id', approval.id);
    expect(events.events.at(-1)?.data).to.include({ action_kind: 'invited' });
  });

  it('shows the link of an allow to one of two who allow at once', async () => {
    const s = await scene(server);
    const approval = await held(s.agent, invitePeople());
    const answers = await Promise.all([allow(s.ana, approval), allow(s.ana, approval)]);
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 201]);
    expect(answers.filter(({ body }) => body.invite !== undefined)).to.have.length(1);
  });

  it('has one winner of ten, whose key alone finds it again', async () => {
    const twin = engine === 'postgres' ? await startTwin(server) : null;
    const s = await scene(server);
    const there = new Api(twin?.url ?? server.url, s.agent.token);
    const { approval } = await allowed(s);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_unused, n) => collect(n % 2 ? s.agent : there, approval, `key-${n}`)),
    );
    const won = answers.flatMap(({ body }, n) => (body.invite ? [n] : []));
    expect(won).to.have.length(1);
    expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 10 }, () => 200));
    const [winner] = won;
    const again = await collect(s.agent, approval, `key-${winner}`);
    expect(again.body).to.include({ collected: false, recovered: true });
    // The link is that of the server which was asked.
    expect(secretOf(again.body.invite as never)).to.equal(secretOf(answers[winner ?? 0]?.body.invite as never));
    for (const key of ['another', undefined]) {
      const other = await collect(s.agent, approval, key);
      expect([other.body.collected, other.body.invite]).to.deep.equal([false, undefined]);
      expect(other.body.approval.next?.command).to.include('invite revoke inv_');
    }
    await twin?.close();
  });

  it('can be repeated for ten minutes and no longer', async () => {
    const s = await scene(server);
    const { approval } = await allowed(s);
    await collect(s.agent, approval, 'k');
    server.clock.advance(9 * MINUTE);
    expect((await collect(s.agent, approval, 'k')).body.recovered).to.equal(true);
    server.clock.advance(MINUTE);
    const { body } = await collect(s.agent, approval, 'k');
    expect([body.invite, body.approval.outcome.state]).to.deep.equal([undefined, 'cleared']);
    expect((await capsule(server, approval))?.ciphertext).to.equal(null);
    expect((await look(s.agent, approval)).next, 'looking tells it too').to.deep.equal(body.approval.next);
    expect(body.approval.next?.command).to.include('invite revoke inv_');
    expect(await look(s.ana, approval), 'its person asked for nothing').not.to.have.property('next');
  });

  it('without a key leaves nothing to find again', async () => {
    const s = await scene(server);
    const { approval } = await allowed(s);
    const first = await collect(s.agent, approval);
    expect([first.body.collected, first.body.approval.outcome.state]).to.deep.equal([true, 'cleared']);
    expect(await capsule(server, approval)).to.include({ ciphertext: null, nonce: null, winning_key_hash: null });
    expect((await collect(s.agent, approval)).body.invite).to.equal(undefined);
  });

  it('is for the agent that asked, under the key it asked with', async () => {
    const s = await scene(server);
    const { approval } = await allowed(s);
    const other = await newAgent(s.ana, s.board.name);
    expect(codeOf(await collect(other, approval, 'k'))).to.equal('404 approval_not_found');
    expect(codeOf(await collect(s.ana, approval, 'k'))).to.equal('403 agent_token_required');
    expect((await collect(s.agent, approval, 'k')).body.collected).to.equal(true);
    const pending = await held(s.agent, invitePeople());
    expect((await collect(s.agent, pending, 'k')).body).to.deep.include({ collected: false });
  });

  it('reveals nothing once the invite is used, revoked or over', async () => {
    const s = await scene(server);
    for (const end of ['used', 'revoked', 'over'] as const) {
      const { approval, secret } = await allowed(s, { ttl_seconds: 3_600 });
      const id = (await look(s.ana, approval)).execution?.invite_id ?? '';
      if (end === 'used') await connect(server, { invite: secret, handle: 'somebody' });
      if (end === 'revoked') await s.ana.ok('revokeInvite', { params: { invite: id } });
      if (end === 'over') server.clock.advance(3_600_000);
      const { status, body } = await collect(s.agent, approval, 'k');
      expect([status, body.invite, body.approval.outcome.state], end).to.deep.equal([200, undefined, 'cleared']);
      expect((await capsule(server, approval))?.ciphertext, end).to.equal(null);
    }
  });

  it('ends for good with the authority behind it, also where it is refused', async () => {
    const s = await scene(server);
    const admin = await allowed(s);
    await setPerson(server, s.ana, { server_role: 'member' });
    expect(codeOf(await collect(s.agent, admin.approval, 'k'))).to.equal('403 server_admin_required');
    expect((await capsule(server, admin.approval))?.ciphertext).to.equal(null);
    await setPerson(server, s.ana, { server_role: 'admin' });
    expect((await collect(s.agent, admin.approval, 'k')).body.invite).to.equal(undefined);
    expect((await preview(server, admin.secret)).status).to.equal(200);

    const demoted = await allowed(s);
    const handle = (await s.ana.ok('getMe')).name;
    await server.dana.ok('setPersonRole', { params: { handle }, body: { server_role: 'member' } });
    expect((await capsule(server, demoted.approval))?.clear_reason).to.equal('not_admin');
    await setPerson(server, s.ana, { server_role: 'admin' });

    const keyed = await allowed(s);
    const { current_key_id: key } = await s.ana.ok('listKeys');
    await s.ana.ok('revokeKey', { params: { key } });
    expect(codeOf(await collect(s.agent, keyed.approval, 'k'))).to.equal('401 unauthorized');
    expect((await capsule(server, keyed.approval))?.ciphertext).to.equal(null);
    expect((await preview(server, keyed.secret)).code).to.equal('invite_invalid');
  });

  it('ends when the person is off a bundled board', async () => {
    const s = await scene(server);
    const other = await s.ana.ok('createBoard', { body: {} });
    await putOnBoard(server, other.name, s.bob);
    const { approval } = await allowed(s, { boards: [other.id] });
    const handle = (await s.bob.ok('getMe')).name;
    await s.ana.ok('makeBoardOwner', { params: { board: other.name }, body: { handle } });
    await s.ana.ok('leaveBoard', { params: { board: other.name } });
    expect((await capsule(server, approval))?.clear_reason).to.equal('off_board');
    expect(codeOf(await collect(s.agent, approval, 'k'))).to.equal('404 approval_not_found');
  });

  it('waits while a board is archived, and goes on after', async () => {
    const s = await scene(server);
    const { approval, secret } = await allowed(s, { boards: [s.board.id] });
    await changeBoard(server, s.board.name, { lifecycle: 'archived' });
    expect(codeOf(await collect(s.agent, approval, 'k'))).to.equal('409 board_archived');
    expect((await preview(server, secret)).code).to.equal('invite_invalid');
    await changeBoard(server, s.board.name, { lifecycle: 'active' });
    expect((await preview(server, secret)).status).to.equal(200);
    expect((await collect(s.agent, approval, 'k')).body.collected).to.equal(true);
  });

  it('opens no capsule that was moved or belongs to another server key', async () => {
    const s = await scene(server);
    const [one, two] = [await allowed(s), await allowed(s)];
    const stored = await capsule(server, two.approval);
    await server.db.write((tx) =>
      tx.change((db) =>
        db('approval_outcomes').where('approval_id', one.approval.id).update({
          ciphertext: stored?.ciphertext,
          nonce: stored?.nonce,
        }),
      ),
    );
    const { body } = await collect(s.agent, one.approval, 'k');
    expect([body.invite, body.approval.outcome.state]).to.deep.equal([undefined, 'cleared']);
    expect(server.log.some((line) => line.includes('does not open') && line.includes(one.approval.id))).to.equal(true);
  });

  it('leaves no secret behind: not in the database, not in the log, not among kept answers', async () => {
    const s = await scene(server);
    const { approval, secret } = await allowed(s);
    await collect(s.agent, approval, 'k');
    const all = await everything(server);
    const rows = await server.db.read(async (tx) => {
      const tables = ['approvals', 'approval_outcomes', 'allowances', 'allowance_revisions'];
      const found: unknown[] = [];
      for (const table of tables) found.push(await tx.query((db) => db(table).select('*')));
      return JSON.stringify(found, (_key, value) =>
        (value as { type?: string })?.type === 'Buffer'
          ? Buffer.from((value as { data: number[] }).data).toString('latin1')
          : value,
      );
    });
    expect(rows).to.include(approval.id);
    expect(all).not.to.include(secret);
    expect(rows).not.to.include(secret);
  });
});
