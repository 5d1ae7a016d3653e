/**
 * One winner of everything that two may want at once, on two servers that share one Postgres and on one with SQLite. The
 * short form runs with all tests, SERVICE_TEST_LONG=1 runs 200 rounds of each and has the second server in a process of its
 * own, but for what depends on the time that the test sets.
 */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type CapsuleRow, capsuleState } from '../../../src/server/approvals/capsules.store.ts';
import { sweepOnboarding } from '../../../src/server/approvals/sweep.steps.ts';
import type { RunningServer } from '../../../src/server/serve.ts';
import { type Child, launchServer } from '../../faults/launch.ts';
import { Api } from '../../support/api.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, startTwin, type TestServer } from '../../support/server.ts';
import { newBrowser } from '../../support/state.ts';
import { connect, preview, secretOf } from '../invites/cast.ts';
import { addBob, allow, ask, collect, decline, eventsOf, held, invitePeople, look, type Scene, scene } from './cast.ts';

const LONG = process.env['SERVICE_TEST_LONG'] === '1';
const ROUNDS = LONG ? 200 : 3;

interface Answered {
  status: number;
  text: string;
}

/** Nothing broke, whoever won. */
function expectNoFault(...answers: Answered[]): void {
  for (const { status, text } of answers) expect(status, text).to.be.lessThan(500);
}

const withSecret = (answers: Answered[]): Answered[] => answers.filter(({ text }) => text.includes('abi_'));

forEachDatabase('one winner', (engine) => {
  let server: TestServer;
  let twin: RunningServer | null;
  let process2: { child: Child; url: string; dataDir: string } | null = null;
  before(async () => {
    server = await startTestServer(engine);
    twin = engine === 'postgres' ? await startTwin(server) : null;
    if (LONG && engine === 'postgres') process2 = await startProcess();
  });
  after(async function () {
    // Every secret of every round is looked for.
    this.timeout(LONG ? 600_000 : 120_000);
    expect(await process2?.child.stop()).to.be.oneOf([0, undefined]);
    if (process2) rmSync(process2.dataDir, { recursive: true });
    await twin?.close();
    await server.stop();
  });

  /** A server of the same database and secret in a process of its own. */
  async function startProcess() {
    const dataDir = mkdtempSync(join(tmpdir(), 'board-service-second-'));
    for (const file of ['server-secret', 'local-key']) copyFileSync(join(server.dataDir, file), join(dataDir, file));
    const child = launchServer({ dataDir, db: server.databaseUrl ?? '' });
    return { child, url: await child.ready, dataDir };
  }

  /** The same caller, at the other server. */
  const there = (api: Api): Api => new Api((process2 ?? twin ?? server).url, api.token, api.personId);
  const count = async (table: string, where: Record<string, unknown>): Promise<number> =>
    (await server.db.read((tx) => tx.query((db) => db(table).where(where).select('*')))).length;
  const capsule = async (id: string): Promise<CapsuleRow> => {
    const [row] = await server.db.read((tx) =>
      tx.query<CapsuleRow>((db) => db('approval_outcomes').where('approval_id', id).select('*')),
    );
    if (!row) throw new Error('no secret was sealed');
    return row;
  };

  async function invited(s: Scene, invite: Record<string, unknown> = {}) {
    const approval = await held(s.agent, invitePeople(invite));
    const { body } = await allow(s.ana, approval);
    return { approval, inviteId: body.invite?.id ?? '', secret: secretOf(body.invite as never) };
  }

  /** Both begin together, and who is first changes from round to round. */
  const rounds = (title: string, round: (n: number) => Promise<void>) =>
    it(`${title} (${ROUNDS} rounds)`, async () => {
      for (let n = 0; n < ROUNDS; n++) await round(n);
    }).timeout(600_000);
  const together = <A, B>(n: number, a: () => Promise<A>, b: () => Promise<B>): Promise<[A, B]> => {
    if (n % 2 === 0) return Promise.all([a(), b()]);
    const second = b();
    return Promise.all([a(), second]);
  };

  rounds('of allowing and declining', async (n) => {
    const s = await scene(server);
    const approval = await held(s.agent, addBob(s));
    const [yes, no] = await together(
      n,
      () => allow(s.ana, approval),
      () => decline(there(s.ana), approval),
    );
    expectNoFault(yes, no);
    const { state } = await look(s.ana, approval);
    expect([yes.status, no.status]).to.deep.equal(state === 'executed' ? [200, 409] : [409, 200]);
    const added = await eventsOf(s.ana, s.board.name, 'person.added');
    expect(added).to.have.length(state === 'executed' ? 1 : 0);
    expect(await count('notices', { member_id: s.agent.memberId })).to.equal(1);
  });

  rounds('of allowing twice, with a key and in a browser', async (n) => {
    const s = await scene(server);
    const browser = await newBrowser(server, s.ana);
    const approval = await held(s.agent, invitePeople());
    const answers = await together<Answered, Answered>(
      n,
      () => allow(browser, approval),
      () => allow(there(s.ana), approval),
    );
    expectNoFault(...answers);
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 201]);
    expect(withSecret(answers)).to.have.length(1);
    expect(await count('server_invites', { created_by: s.ana.personId })).to.equal(1);
    expect(await count('approval_outcomes', { approval_id: approval.id })).to.equal(1);
  });

  rounds('of two who collect', async (n) => {
    const s = await scene(server);
    const { approval } = await invited(s);
    const keys = n % 3 === 0 ? [undefined, undefined] : ['one', 'two'];
    const answers = await together<Answered, Answered>(
      n,
      () => collect(s.agent, approval, keys[0]),
      () => collect(there(s.agent), approval, keys[1]),
    );
    expectNoFault(...answers);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(withSecret(answers)).to.have.length(1);
    expect((await capsule(approval.id)).ciphertext === null).to.equal(keys[0] === undefined);
  });

  rounds('of collecting and revoking the invite', async (n) => {
    const s = await scene(server);
    const { approval, inviteId, secret } = await invited(s);
    const [got, revoked] = await together(
      n,
      () => collect(s.agent, approval, 'k'),
      () => there(s.ana).call('revokeInvite', { params: { invite: inviteId } }),
    );
    expectNoFault(got, revoked);
    expect([got.status, revoked.status, revoked.body.changed]).to.deep.equal([200, 200, true]);
    expect((await capsule(approval.id)).ciphertext).to.equal(null);
    expect((await collect(s.agent, approval, 'k')).body.invite).to.equal(undefined);
    expect((await preview(server, secret)).code).to.equal('invite_invalid');
  });

  rounds('of two requests with one key', async (n) => {
    const s = await scene(server);
    const body = n % 2 === 0 ? invitePeople() : addBob(s);
    if (n % 4 === 0) await s.ana.ok('setAllowance', { body: { categories: ['invite_people'] } });
    const answers = await together(
      n,
      () => ask(s.agent, body, 'same'),
      () => ask(there(s.agent), body, 'same'),
    );
    expectNoFault(...answers);
    expect(answers.map(({ body: { approval } }) => approval?.id)).to.deep.equal(
      Array.from({ length: 2 }, () => answers[0].body.approval?.id),
    );
    expect(await count('approvals', { agent_id: s.agent.memberId })).to.equal(1);
    expect(withSecret(answers).length).to.equal(n % 4 === 0 ? 1 : 0);
  });

  rounds('of an allowance that is taken back and what it allows', async (n) => {
    const s = await scene(server);
    await s.ana.ok('setAllowance', { body: { categories: ['add_people'] } });
    const [asked, off] = await together(
      n,
      () => ask(s.agent, addBob(s)),
      () => there(s.ana).call('clearAllowance'),
    );
    expectNoFault(asked, off);
    const executed = asked.body.state === 'executed';
    expect([asked.status, off.status]).to.deep.equal([executed ? 201 : 202, 200]);
    expect(await eventsOf(s.ana, s.board.name, 'person.added')).to.have.length(executed ? 1 : 0);
    expect(off.body.categories).to.deep.equal([]);
  });

  // Last, since it sets the time of this process alone.
  rounds('of redeeming and the end of the invite', async (n) => {
    const s = await scene(server);
    const { approval, inviteId, secret } = await invited(s, { ttl_seconds: 60, boards: [s.board.id] });
    const come = (at: { url: string }, who: string) =>
      connect(at, { invite: secret, handle: `late-${engine === 'sqlite' ? 's' : 'p'}-${n}-${who}` });
    const over = async () => {
      await new Promise((resolve) => setTimeout(resolve, n % 8));
      server.clock.advance(60_000);
      await server.db.write((tx) => sweepOnboarding(tx, 500));
    };
    const [[one, two]] = await together(
      n,
      () => Promise.all([come(server, 'a'), come(twin ?? server, 'b')]),
      () => over(),
    );
    expectNoFault(one, two);
    const came = [one, two].filter(({ status }) => status < 300);
    expect(came.length).to.be.lessThan(2);
    expect([one, two].filter(({ code }) => code === 'invite_invalid')).to.have.length(2 - came.length);
    const [invite] = await server.db.read((tx) =>
      tx.query<{ used_at: number | null; expires_at: number }>((db) =>
        db('server_invites').where({ id: inviteId }).select('*'),
      ),
    );
    expect(invite?.used_at === null).to.equal(came.length === 0);
    if (invite?.used_at) expect(invite.used_at).to.be.lessThan(invite.expires_at);
    expect(await eventsOf(s.ana, s.board.name, 'person.added')).to.have.length(came.length);
    expect(capsuleState(await capsule(approval.id), server.clock.now())).to.equal('cleared');
    expect((await capsule(approval.id)).ciphertext).to.equal(null);
  });
});
