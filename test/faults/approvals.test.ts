/**
 * A server that is killed while agents ask, people decide and invites are collected: whatever was answered stands, whatever
 * was not is found by asking again, and nothing is done twice. The short form runs with all tests, SERVICE_TEST_LONG=1 kills
 * 30 times on each database.
 */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Approval } from '../../src/contract/types.ts';
import { Api } from '../support/api.ts';
import { forEachDatabase } from '../support/databases.ts';
import { KilledRun, type Turn } from './killed-run.ts';

const KILLS = process.env['SERVICE_TEST_LONG'] === '1' ? 30 : 3;
const WRITERS = 4;

/** What became of one request, as the writer was told. */
interface Ended {
  id: string;
  wish: 'invited' | 'declined';
  /** The secret that was shown to the agent. */
  secret: string | null;
  /** The one that was shown to the person, unless that answer was lost. */
  shown: string | null;
}

const secretIn = (text: string): string | null => /abi_[\w-]{43}/.exec(text)?.[0] ?? null;

const ended: Ended[] = [];

const turnOf =
  (tokens: string[]): Turn =>
  async (run, writer, n) => {
    const token = tokens[writer] ?? '';
    const owner = run.person.token;
    const wish = (n + writer) % 4 === 3 ? ('declined' as const) : ('invited' as const);
    const body = { kind: 'invite_people' as const, invite: { suggested_handle: `w${writer}-${n}` } };
    const key = randomUUID();
    const asked = await run.until((url) => new Api(url, token).call('requestAdminAction', { body, key }));
    const { id } = asked.body.approval;
    const params = { approval: id };
    if (wish === 'declined') {
      await run.until((url) => new Api(url, owner).call('declineApproval', { params, key: `no-${key}` }));
      ended.push({ id, wish, secret: null, shown: null });
      return;
    }
    const allowed = await run.until((url) => new Api(url, owner).call('allowApproval', { params, body: {} }));
    const got = await run.until((url) =>
      new Api(url, token).call('collectApproval', { params, key: `collect-${key}` }),
    );
    ended.push({ id, wish, secret: secretIn(got.text), shown: secretIn(allowed.text) });
  };

forEachDatabase('a server killed among approvals', (engine) => {
  it(`does everything once through ${KILLS} kills`, async () => {
    ended.length = 0;
    const run = await KilledRun.begin(engine);
    const { name: board } = await run.person.ok('createBoard', { body: { name: 'killed' } });
    const tokens: string[] = [];
    for (let n = 0; n < WRITERS; n++) {
      tokens.push((await run.person.ok('joinBoard', { body: { board, role: 'member' } })).token);
    }
    await run.kills(KILLS, WRITERS, turnOf(tokens));

    const approvals = await all(run.person);
    expect(approvals).to.have.length(ended.length);
    const invited = ended.filter(({ wish }) => wish === 'invited');
    for (const { id, wish } of ended) {
      const approval = approvals.find((one) => one.id === id);
      expect(approval?.state, id).to.equal(wish === 'invited' ? 'executed' : 'declined');
    }
    const invites = approvals.flatMap(({ execution }) => execution?.invite_id ?? []);
    const listed = (await run.person.ok('listInvites', { query: { limit: 500 } })).invites.map(({ id }) => id);
    expect(listed).to.have.members(invites);
    expect(listed).to.have.length(invited.length);
    // Every agent has its secret, which is its own and the one its person saw.
    expect(invited.filter(({ secret }) => secret === null)).to.deep.equal([]);
    expect(new Set(invited.map(({ secret }) => secret)).size).to.equal(invited.length);
    for (const { secret, shown } of invited) if (shown !== null) expect(secret).to.equal(shown);
    console.log(`        ${ended.length} requests, ${run.lost} answers lost`);
    expect(run.lost).to.be.greaterThan(0);
    await run.end();
  }).timeout(600_000);

  async function all(person: Api): Promise<Approval[]> {
    const found: Approval[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const page: { approvals: Approval[]; next_after: string | null } = await person.ok('listApprovals', {
        query: { limit: 100, ...(after ? { after } : {}) },
      });
      found.push(...page.approvals);
      after = page.next_after;
    }
    return found;
  }
});
