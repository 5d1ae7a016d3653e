/**
 * Ten agents that answer everything they get, on boards where two people write now and then, while servers are killed: no
 * thread passes its hold and no seat its budget, nothing that was acknowledged is lost, and what a person writes arrives soon.
 *
 * The short form plays two runs on each database; SERVICE_TEST_LONG=1 plays 100, and then a word has two seconds. Each run
 * prints its seed; SERVICE_TEST_SEED plays the first one again.
 */
import { expect } from 'chai';
import type { Inbox, Message } from '../../src/contract/types.ts';
import { Api, type Call } from '../support/api.ts';
import { type Agent, newAgent } from '../support/cast.ts';
import { type Engine, forEachDatabase } from '../support/databases.ts';
import { until } from '../support/until.ts';
import { Crew, type Server } from './crew.ts';
import { type Chance, chance } from './random.ts';

const LONG = process.env['SERVICE_TEST_LONG'] === '1';
const RUNS = LONG ? 100 : 2;
/** Longest time from a person's word, or from the start of the server after it, to its agent. */
const WORD_MS = LONG ? 2_000 : 15_000;
const HOLD = 8;
const WAKES = 12;
const STEPS = 12;

forEachDatabase('agents that answer everything', (engine: Engine) => {
  let crew: Crew;
  let dana: Api;
  let pam: Api;

  before(async () => {
    crew = await Crew.start(engine);
    ({ dana } = crew);
    const { invite } = await dana.ok('createInvite', { body: { suggested_handle: 'pam' } });
    const body = { invite, handle: 'pam', key_name: 'laptop' };
    const joined = await new Api(dana.url).ok('connectPerson', { body });
    pam = new Api(dana.url, (joined as unknown as { key: { token: string } }).key.token);
  });
  after(async () => {
    await crew.stop();
  });

  it(`pass no hold and no budget, lose nothing and hear a person soon, in ${RUNS} runs`, async function () {
    this.timeout(RUNS * 60_000);
    for (let n = 0; n < RUNS; n++) {
      const luck = n === 0 ? chance() : chance(Date.now() % 1_000_000_000);
      console.log(`        SERVICE_TEST_SEED=${luck.seed}`);
      await new Run(crew.servers, luck).play(dana, pam, `talk-${n}`);
    }
  });
});

interface Word {
  id: string;
  to: string;
  /** When its sender knew that it was posted. */
  at: number;
}

class Run {
  readonly #servers: Server[];
  readonly #luck: Chance;
  readonly #arrived = new Map<string, number>();
  readonly #seen = new Map<string, Set<string>>();
  readonly #wakes = new Map<string, number>();
  #over = false;

  constructor(servers: Server[], luck: Chance) {
    this.#servers = servers;
    this.#luck = luck;
  }

  async play(dana: Api, pam: Api, name: string): Promise<void> {
    const board = (await dana.ok('createBoard', { body: { name } })).name;
    await dana.ok('addBoardPerson', { params: { board }, body: { handle: 'pam' } });
    await dana.ok('updateBoard', {
      params: { board },
      body: { policy: { agent_run: { notice: HOLD - 4, hold: HOLD } } },
    });
    const agents: Agent[] = [];
    for (let n = 0; n < 10; n++) {
      const owner = n % 2 === 0 ? dana : pam;
      const agent = await newAgent(owner, board, { name: `agent-${n}` });
      const params = { board, member: agent.name };
      await owner.ok('setAgentBudget', { params, body: { wakes: [{ count: WAKES, seconds: 3_600 }] } });
      agents.push(agent);
      this.#seen.set(agent.name, new Set());
      this.#wakes.set(agent.name, 0);
    }
    const living = agents.map((agent) => this.#live(agent, board));
    const words: Word[] = [];
    for (let step = 0; step < STEPS; step++) {
      const to = this.#luck.pick(agents).name;
      const kind = this.#luck.between(1, 10);
      if (kind <= 3) words.push(await this.#say(this.#luck.pick([dana, pam]), board, to));
      else if (kind <= 7) await this.#open(this.#luck.pick(agents), board, to);
      else if (kind === 8) await this.#luck.pick(this.#servers).kill();
      else await new Promise((resolve) => setTimeout(resolve, this.#luck.between(20, 120)));
    }
    words.push(await this.#say(dana, board, this.#luck.pick(agents).name));
    for (const word of words) await until(() => this.#arrived.has(word.id), 'a word of a person', 30_000);
    this.#over = true;
    await Promise.all(living);
    this.#checkWords(words);
    await this.#check(dana, board, agents);
  }

  /** Waits for messages, answers one of them and acknowledges all, as long as the run goes on. */
  async #live(agent: Agent, board: string): Promise<void> {
    const seen = this.#seen.get(agent.name) as Set<string>;
    let turn = this.#luck.between(0, 1);
    let last = '';
    while (!this.#over) {
      const inbox = await this.#call<Inbox>(agent, 'readInbox', { query: { wait: 1 } }, turn++);
      if (!inbox || inbox.messages.length === 0) continue;
      for (const { id } of inbox.messages) {
        seen.add(id);
        if (!this.#arrived.has(id)) this.#arrived.set(id, performance.now());
      }
      const newest = inbox.messages.at(-1) as Message;
      const body = { body: `ok ${newest.seq}`, reply_to: newest.id };
      await this.#call(agent, 'postMessage', { params: { board }, body, key: `${agent.name}-${newest.id}` }, turn++);
      await this.#call(
        agent,
        'ackInbox',
        { body: { up_to: newest.seq }, key: `${agent.name}-ack-${newest.seq}` },
        turn++,
      );
      if (newest.id === last || inbox.messages.some(({ from }) => from.kind === 'human')) continue;
      last = newest.id;
      this.#wakes.set(agent.name, (this.#wakes.get(agent.name) ?? 0) + 1);
    }
  }

  /** Asks until a server answers; null for a refusal. */
  async #call<T>(api: Api, name: Parameters<Api['call']>[0], call: Call, turn: number): Promise<T | null> {
    for (let n = turn; ; n++) {
      const { url } = this.#servers[n % this.#servers.length] as Server;
      try {
        const { status, body, code } = await new Api(url, api.token).call(name, call);
        if (status < 300) return body as T;
        // A write that is under way in a process that was killed is asked again.
        if (status < 500 && code !== 'idempotency_in_progress' && code !== 'rate_limited') return null;
      } catch {
        // It is being killed or started.
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async #say(person: Api, board: string, to: string): Promise<Word> {
    const key = `word-${board}-${performance.now()}`;
    const call = { params: { board }, body: { body: 'A word', to: [`@${to}`] }, key };
    const posted = await this.#call<Message>(person, 'postMessage', call, 0);
    return { id: posted?.id ?? '', to, at: performance.now() };
  }

  async #open(agent: Agent, board: string, to: string): Promise<void> {
    const targets = [...new Set([to, `agent-${this.#luck.between(0, 9)}`])].filter((name) => name !== agent.name);
    const body = { body: 'Let us talk', to: targets.length > 0 ? targets.map((name) => `@${name}`) : ['all'] };
    await this.#call(agent, 'postMessage', { params: { board }, body, key: `open-${board}-${performance.now()}` }, 0);
  }

  #checkWords(words: readonly Word[]): void {
    for (const { id, at } of words) {
      const started = Math.max(...this.#servers.map(({ since }) => since).filter((since) => since > at), at);
      expect((this.#arrived.get(id) ?? Number.NaN) - started, 'ms until a word arrived').to.be.below(WORD_MS);
    }
  }

  async #check(dana: Api, board: string, agents: readonly Agent[]): Promise<void> {
    const messages: Message[] = [];
    for (let after = 0; ; ) {
      const page = await dana.ok('listMessages', { params: { board }, query: { after, limit: 200 } });
      messages.push(...page.messages);
      if (page.next_after === null) break;
      after = page.next_after;
    }
    const awake = new Map<string, number>();
    for (const { id, thread_root: root, from, held } of messages) {
      const thread = root ?? id;
      const run = from.kind === 'human' ? 0 : (awake.get(thread) ?? 0) + (held ? 0 : 1);
      awake.set(thread, run);
      expect(run, 'messages in a row that wake').to.be.at.most(HOLD);
    }
    for (const agent of agents) {
      expect(this.#wakes.get(agent.name), `wakes of ${agent.name}`).to.be.at.most(WAKES);
      const rest: Message[] = [];
      for (let after = 0; ; ) {
        const page = await agent.ok('readInbox', { query: { after, limit: 200 } });
        rest.push(...page.messages);
        if (!page.more) break;
        after = page.messages.at(-1)?.seq ?? 0;
      }
      const has = new Set([...(this.#seen.get(agent.name) ?? []), ...rest.map(({ id }) => id)]);
      const sent = messages.filter(({ to, from }) => to.includes(`@${agent.name}`) && from.id !== agent.memberId);
      expect(
        sent.filter(({ id }) => !has.has(id)).map(({ seq }) => seq),
        `lost for ${agent.name}`,
      ).to.deep.equal([]);
    }
  }
}
