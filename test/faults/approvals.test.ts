/**
 * A server that is killed while agents ask, people decide and invites are collected: whatever was answered stands, whatever
 * was not is found by asking again, and nothing is done twice. The short form runs with all tests, SERVICE_TEST_LONG=1 kills
 * 30 times on each database.
 */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Approval } from '../../src/contract/types.ts';
import { Api } from '../support/api.ts';
import { type Engine, forEachDatabase } from '../support/databases.ts';
import { newPlace, remove, type Where } from './databases.ts';
import { type Child, launchServer, localKey } from './launch.ts';
import { type Chance, chance } from './random.ts';

const KILLS = process.env['SERVICE_TEST_LONG'] === '1' ? 30 : 4;
const WRITERS = 4;
/** So many answers at most between two kills. */
const ANSWERS = 24;

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

class Run {
  readonly ended: Ended[] = [];
  /** Answers that were lost. */
  lost = 0;
  readonly #where: Where;
  readonly #luck: Chance;
  #child: Child;
  #url: string;
  #left: number;
  #stopping = false;
  #strike: () => void = () => {};
  #up: Promise<void> = Promise.resolve();

  private constructor(where: Where, luck: Chance, child: Child, url: string) {
    this.#where = where;
    this.#luck = luck;
    this.#child = child;
    this.#url = url;
    this.#left = luck.between(1, ANSWERS);
  }

  static async begin(engine: Engine): Promise<Run> {
    const luck = chance();
    console.log(`        SERVICE_TEST_SEED=${luck.seed}`);
    const where = await newPlace(engine);
    const child = launchServer(where);
    return new Run(where, luck, child, await child.ready);
  }

  get person(): Api {
    return new Api(this.#url, localKey(this.#where.dataDir));
  }

  /** Kills it this often while these agents go on asking. */
  async kills(count: number, tokens: string[]): Promise<void> {
    const writers = Promise.all(tokens.map((token, n) => this.#loop(token, n)));
    // A writer that fails ends the run at once.
    await Promise.race([this.#killing(count), writers]);
    await writers;
  }

  async #killing(count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      await new Promise<void>((resolve) => {
        this.#strike = resolve;
      });
      let up: () => void = () => {};
      this.#up = new Promise((resolve) => {
        up = resolve;
      });
      await this.#child.kill();
      this.#child = launchServer(this.#where);
      this.#url = await this.#child.ready;
      this.#left = this.#luck.between(1, ANSWERS);
      up();
    }
    this.#stopping = true;
  }

  async end(): Promise<void> {
    expect(await this.#child.stop()).to.equal(0);
    remove(this.#where.dataDir);
  }

  async #loop(token: string, writer: number): Promise<void> {
    for (let n = 0; !this.#stopping; n++) {
      const wish = (n + writer) % 4 === 3 ? ('declined' as const) : ('invited' as const);
      const body = { kind: 'invite_people' as const, invite: { suggested_handle: `w${writer}-${n}` } };
      const key = randomUUID();
      const asked = await this.#until((url) => new Api(url, token).call('requestAdminAction', { body, key }));
      const { id } = asked.body.approval;
      const params = { approval: id };
      if (wish === 'declined') {
        await this.#until((url) => this.#as(url).call('declineApproval', { params, key: `no-${key}` }));
        this.ended.push({ id, wish, secret: null, shown: null });
        continue;
      }
      const allowed = await this.#until((url) => this.#as(url).call('allowApproval', { params, body: {} }));
      const got = await this.#until((url) =>
        new Api(url, token).call('collectApproval', { params, key: `collect-${key}` }),
      );
      this.ended.push({ id, wish, secret: secretIn(got.text), shown: secretIn(allowed.text) });
    }
  }

  #as(url: string): Api {
    return new Api(url, localKey(this.#where.dataDir));
  }

  /** The same call again until there is an answer. */
  async #until<T extends { status: number; text: string }>(call: (url: string) => Promise<T>): Promise<T> {
    for (;;) {
      await this.#up;
      const answer = await call(this.#url).catch(() => null);
      if (--this.#left <= 0) this.#strike();
      if (answer !== null) {
        if (answer.status >= 300) throw new Error(`answered ${answer.status}: ${answer.text}`);
        return answer;
      }
      this.lost++;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

forEachDatabase('a server killed among approvals', (engine) => {
  it(`does everything once through ${KILLS} kills`, async () => {
    const run = await Run.begin(engine);
    const { name: board } = await run.person.ok('createBoard', { body: { name: 'killed' } });
    const tokens: string[] = [];
    for (let n = 0; n < WRITERS; n++) {
      tokens.push((await run.person.ok('joinBoard', { body: { board, role: 'member' } })).token);
    }
    await run.kills(KILLS, tokens);

    const approvals = await all(run.person);
    expect(approvals).to.have.length(run.ended.length);
    const invited = run.ended.filter(({ wish }) => wish === 'invited');
    for (const { id, wish } of run.ended) {
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
    console.log(`        ${run.ended.length} requests, ${run.lost} answers lost`);
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
