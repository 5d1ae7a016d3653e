/**
 * Ten agents that answer everything they get, on boards where two people write now and then, while servers are killed, and
 * the daemon that serves some of the agents: no thread passes its hold and no seat its budget, nothing that was acknowledged is
 * lost, and what a person writes arrives soon.
 *
 * The short form plays two runs on each database; SERVICE_TEST_LONG=1 plays 100, and then a word has two seconds. Each run
 * prints its seed; SERVICE_TEST_SEED plays the first one again.
 */
import { expect } from 'chai';
import type { Inbox, Message } from '../../src/contract/types.ts';
import { concerns } from '../../src/contract/waking.ts';
import { Api, type Call } from '../support/api.ts';
import { type Agent, newAgent } from '../support/cast.ts';
import { type Engine, forEachDatabase } from '../support/databases.ts';
import { until } from '../support/until.ts';
import { Crew, type Server } from './crew.ts';
import { HeldAgents } from './held-agents.ts';
import { type Chance, chance } from './random.ts';

const LONG = process.env['SERVICE_TEST_LONG'] === '1';
const RUNS = LONG ? 100 : 2;
/** Longest time from a person's word, or from the start of the server or daemon after it, to its agent. */
const WORD_MS = LONG ? 2_000 : 15_000;
const HOLD = 8;
/** Few for those that the daemon serves: a daemon that is away does not wake them. */
const WAKES = { daemon: 3, alone: 12 };
const STEPS = 12;
/** Which of the ten the daemon serves; all of one person. */
const isHeld = (n: number): boolean => n % 2 === 0 && n < 8;

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
    this.timeout(60_000 + RUNS * 60_000);
    for (let n = 0; n < RUNS; n++) {
      const luck = n === 0 ? chance() : chance(Date.now() % 1_000_000_000);
      console.log(`        SERVICE_TEST_SEED=${luck.seed}`);
      await new Run(crew.servers, luck).play(dana, pam, `talk-${n}`);
    }
  });
});

interface Word {
  seq: number;
  to: string;
  /** When its sender knew that it was posted. */
  at: number;
}

class Run {
  readonly #servers: Server[];
  readonly #luck: Chance;
  /** When somebody had the message of this number. */
  readonly #arrived = new Map<number, number>();
  readonly #seen = new Map<string, Set<number>>();
  readonly #wakes = new Map<string, number>();
  readonly #words: Word[] = [];
  #held: HeldAgents | null = null;
  /** How often the daemon or a server was killed. */
  #kills = 0;
  /** How many texts the first agent had when its wakes were used up. */
  #tiredAt = 0;
  #over = false;

  constructor(servers: Server[], luck: Chance) {
    this.#servers = servers;
    this.#luck = luck;
  }

  async play(dana: Api, pam: Api, name: string): Promise<void> {
    const { id, name: board } = await dana.ok('createBoard', { body: { name } });
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
      const wakes = isHeld(n) ? WAKES.daemon : WAKES.alone;
      await owner.ok('setAgentBudget', { params, body: { wakes: [{ count: wakes, seconds: 3_600 }] } });
      agents.push(agent);
      this.#seen.set(agent.name, new Set());
      this.#wakes.set(agent.name, 0);
    }
    const [server] = this.#servers as [Server];
    const own = { owner: dana, board: { id, name: board }, agents: agents.filter((_, n) => isHeld(n)) };
    const held = await HeldAgents.start(server, own);
    this.#held = held;
    try {
      await this.#talk(agents, { dana, pam, board, held });
    } finally {
      await held.end();
    }
    await this.#check(dana, board, agents);
  }

  async #talk(
    agents: readonly Agent[],
    { dana, pam, board, held }: { dana: Api; pam: Api; board: string; held: HeldAgents },
  ): Promise<void> {
    const living = agents.map((agent) =>
      held.has(agent.name) ? this.#liveHeld(agent, board, held) : this.#live(agent, board),
    );
    const death = this.#luck.between(0, STEPS - 1);
    for (let step = 0; step < STEPS; step++) {
      const to = this.#luck.pick(agents).name;
      const kind = this.#luck.between(1, 10);
      if (kind <= 3) this.#words.push(await this.#say(this.#luck.pick([dana, pam]), board, to));
      else if (kind <= 7) await this.#open(this.#luck.pick(agents), board, to);
      else if (kind === 8) await this.#kill(this.#luck.pick(this.#servers));
      else if (kind === 9) await this.#kill(held);
      else await new Promise((resolve) => setTimeout(resolve, this.#luck.between(20, 120)));
      if (step === death) await this.#kill(held);
    }
    const [tired, other] = agents as [Agent, Agent];
    await this.#tire(tired, other, board);
    this.#tiredAt = held.given(tired.name).length;
    await this.#kill(held);
    await this.#open(other, board, tired.name);
    this.#words.push(await this.#say(dana, board, tired.name));
    for (const { seq } of this.#words) await until(() => this.#arrived.has(seq), `a word of a person, #${seq}`);
    this.#over = true;
    await Promise.all(living);
    this.#checkWords();
  }

  async #kill(one: Server | HeldAgents): Promise<void> {
    this.#kills++;
    await one.kill();
  }

  /** Uses up the wakes of an agent that the daemon serves. */
  async #tire(agent: Agent, from: Agent, board: string): Promise<void> {
    for (let n = 0; n <= WAKES.daemon; n++) {
      const body = { body: 'And this', to: [`@${agent.name}`] };
      const call = { params: { board }, body, key: `tire-${board}-${n}` };
      const posted = await this.#call<Message>(from, 'postMessage', call, 0);
      const isTaken = async () => {
        const inbox = await this.#call<Inbox>(agent, 'readInbox', {}, 0);
        return inbox?.braked !== undefined || (inbox?.cursor ?? 0) >= (posted?.seq ?? 0);
      };
      await until(isTaken, `${agent.name} has #${posted?.seq} or is braked`);
    }
  }

  /** Waits for messages, answers one of them and acknowledges all, as long as the run goes on. */
  async #live(agent: Agent, board: string): Promise<void> {
    const seen = this.#seen.get(agent.name) as Set<number>;
    const reader = { id: agent.memberId, name: agent.name };
    let turn = this.#luck.between(0, 1);
    let last = '';
    while (!this.#over) {
      const inbox = await this.#call<Inbox>(agent, 'readInbox', { query: { wait: 1 } }, turn++);
      if (!inbox || inbox.messages.length === 0) continue;
      for (const { seq } of inbox.messages) seen.add(seq);
      this.#arrive([...seen]);
      const newest = inbox.messages.at(-1) as Message;
      const body = { body: `ok ${newest.seq}`, reply_to: newest.id };
      await this.#call(agent, 'postMessage', { params: { board }, body, key: `${agent.name}-${newest.id}` }, turn++);
      await this.#call(
        agent,
        'ackInbox',
        { body: { up_to: newest.seq }, key: `${agent.name}-ack-${newest.seq}` },
        turn++,
      );
      const wakes = inbox.messages.some((message) => !message.held && concerns(message, reader));
      if (newest.id === last || !wakes || inbox.messages.some(({ from }) => from.kind === 'human')) continue;
      last = newest.id;
      this.#wakes.set(agent.name, (this.#wakes.get(agent.name) ?? 0) + 1);
    }
  }

  /** Answers the newest message of each text that its session is given; the daemon acknowledges. What it had is asked of it at the end. */
  async #liveHeld(agent: Agent, board: string, held: HeldAgents): Promise<void> {
    for (let taken = 0; !this.#over; ) {
      const given = held.given(agent.name).slice(taken);
      if (given.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
      taken += given.length;
      this.#arrive(given.flat());
      for (const seqs of given) {
        const seq = Math.max(...seqs);
        const newest = await this.#call<{ message: Message }>(agent, 'getMessageBySeq', { params: { board, seq } }, 0);
        if (!newest) continue;
        const body = { body: `ok ${seq}`, reply_to: newest.message.id };
        await this.#call(
          agent,
          'postMessage',
          { params: { board }, body, key: `${agent.name}-${newest.message.id}` },
          0,
        );
      }
    }
  }

  #arrive(seqs: readonly number[]): void {
    for (const seq of seqs) if (!this.#arrived.has(seq)) this.#arrived.set(seq, performance.now());
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
    return { seq: posted?.seq ?? 0, to, at: performance.now() };
  }

  async #open(agent: Agent, board: string, to: string): Promise<void> {
    const targets = [...new Set([to, `agent-${this.#luck.between(0, 9)}`])].filter((name) => name !== agent.name);
    const body = { body: 'Let us talk', to: targets.length > 0 ? targets.map((name) => `@${name}`) : ['all'] };
    await this.#call(agent, 'postMessage', { params: { board }, body, key: `open-${board}-${performance.now()}` }, 0);
  }

  #checkWords(): void {
    for (const { seq, to, at } of this.#words) {
      const started = [...this.#servers, ...(this.#held?.has(to) ? [this.#held] : [])].map(({ since }) => since);
      const began = Math.max(...started.filter((since) => since > at), at);
      expect((this.#arrived.get(seq) ?? Number.NaN) - began, 'ms until a word arrived').to.be.below(WORD_MS);
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
    this.#checkWakes(messages, agents);
    for (const agent of agents) {
      const rest: Message[] = [];
      for (let after = 0; ; ) {
        const page = await agent.ok('readInbox', { query: { after, limit: 200 } });
        rest.push(...page.messages);
        if (!page.more) break;
        after = page.messages.at(-1)?.seq ?? 0;
      }
      const had = this.#held?.has(agent.name)
        ? this.#held.given(agent.name).flat()
        : (this.#seen.get(agent.name) ?? []);
      const has = new Set([...had, ...rest.map(({ seq }) => seq)]);
      const sent = messages.filter(({ to, from }) => to.includes(`@${agent.name}`) && from.id !== agent.memberId);
      expect(
        sent.filter(({ seq }) => !has.has(seq)).map(({ seq }) => seq),
        `lost for ${agent.name}`,
      ).to.deep.equal([]);
    }
  }

  #checkWakes(messages: readonly Message[], agents: readonly Agent[]): void {
    const people = new Set(messages.filter(({ from }) => from.kind === 'human').map(({ seq }) => seq));
    const byAgents = (texts: number[][]) =>
      texts.filter((seqs) => seqs.length > 0 && !seqs.some((seq) => people.has(seq)));
    for (const { name } of agents) {
      if (!this.#held?.has(name)) {
        expect(this.#wakes.get(name), `wakes of ${name}`).to.be.at.most(WAKES.alone);
        continue;
      }
      // What was on its way at a kill comes again, and what is acknowledged together with a person's word is no wake.
      const more = this.#kills + this.#words.filter(({ to }) => to === name).length;
      expect(byAgents(this.#held.given(name)).length, `wakes of ${name}`).to.be.at.most(WAKES.daemon + more);
    }
    const [tired] = agents as [Agent];
    expect(byAgents(this.#held?.given(tired.name).slice(this.#tiredAt) ?? []), 'given to a braked agent').to.deep.equal(
      [],
    );
  }
}
