/**
 * A random run that can be judged: a person and agents post, read, wait, acknowledge, open and take tasks, send things twice
 * and at once, one of them is removed, and servers are killed in between. Everything that is asked, of which server and
 * when a server is killed follows from the seed; how the machine lets the requests overtake each other does not.
 */
import type { BoardEvent } from '../../src/contract/types.ts';
import type { Answered, Api, Call as Request } from '../support/api.ts';
import { Api as Client } from '../support/api.ts';
import { type Agent, newAgent } from '../support/cast.ts';
import type { Crew } from './crew.ts';
import type { Answer, Call, Entry, History } from './history.ts';
import { type Chance, chance } from './random.ts';
import type { Place } from './record.ts';

const AGENTS = 4;
const STEPS = 14;
const TASKS = 3;
/** The last of the agents is removed by the person at this step. */
const REMOVAL = 8;
const WAIT_S = 1;
/** In the end longer than a machine with much to do takes to wake anybody. */
const LAST_WAIT_S = 3;
const HOUR = 3_600_000;
/** So often all wait for the person in the end. */
const ROUNDS = 3;
/** A call that has no answer for so long will never have one. */
const PATIENCE_MS = 60_000;

type Operation = Parameters<Api['call']>[0];
type Noted = Pick<Call, 'wish' | 'key' | 'subject' | 'seq' | 'wait'>;

interface Member {
  api: Api;
  id: string;
  luck: Chance;
  /** The highest number it has seen. */
  seen: number;
  /** What it asked for under a key, to ask again. */
  asked: (() => Promise<unknown>)[];
  removed: boolean;
}

/**
 * A server that dies; or the time of day that jumps by so many milliseconds: of all machines, the database's too, or of one
 * server's machine alone.
 */
export type Fault = { kill: number } | { jump: number; alone?: number };

/** What happens while so many requests are under way; several faults may fall on one. */
export function plannedFaults(
  { between, pick }: Chance,
  servers: number,
  { kills, jumps }: { kills: number; jumps: number },
): Map<number, Fault[]> {
  const planned = new Map<number, Fault[]>();
  const plan = (fault: Fault): void => {
    const at = between(10, 60);
    planned.set(at, [...(planned.get(at) ?? []), fault]);
  };
  for (let n = 0; n < kills; n++) plan({ kill: between(0, servers - 1) });
  for (let n = 0; n < jumps; n++)
    plan({ jump: pick([-HOUR, HOUR]), ...(n % 2 === 1 ? { alone: between(0, servers - 1) } : {}) });
  return planned;
}

export class RandomRun {
  readonly #crew: Crew;
  readonly #luck: Chance;
  readonly #board: string;
  /** Where it was played. */
  readonly place: Place;
  readonly #calls: Call[] = [];
  /** What happened to the servers so far. */
  readonly struck: Fault[] = [];
  readonly #faults: Map<number, Fault[]>;
  #members: Member[] = [];
  #agents: Agent[] = [];
  #sent = 0;
  #removed = false;
  #killing: Promise<void> = Promise.resolve();

  /** @param faults how often a server dies, and how often the time of day jumps by an hour, forward or back. */
  constructor(crew: Crew, seed: number, faults = { kills: 0, jumps: 0 }) {
    this.#crew = crew;
    this.#luck = chance(seed);
    this.#board = `history-${seed}`;
    const { url, token = '' } = crew.dana;
    this.place = { url, token, board: { id: '', name: this.#board } };
    this.#faults = plannedFaults(this.#luck, crew.servers.length, faults);
  }

  /** Plays it to its end; answers everything that happened. */
  async play(): Promise<History> {
    const { dana } = this.#crew;
    this.place.board = await dana.ok('createBoard', { body: { name: this.#board } });
    const people = (await dana.ok('listMembers', { params: { board: this.#board } })).members.map((one) => one.id);
    for (let n = 0; n < AGENTS; n++) this.#agents.push(await newAgent(dana, this.#board, { name: `agent-${n}` }));
    this.#members = [
      { api: dana, id: people[0] as string },
      ...this.#agents.map((api) => ({ api, id: api.memberId })),
    ].map((one) => ({ ...one, luck: chance(this.#luck.between(0, 1e9)), seen: 0, asked: [], removed: false }));
    const [person, ...agents] = this.#members as [Member, ...Member[]];
    for (let n = 1; n <= TASKS; n++) await this.#open(person, n);
    await Promise.all([this.#person(person), ...agents.map((agent) => this.#agent(agent))]);
    await this.#killing;
    await this.#words(person, agents.slice(0, -1));
    // What everybody sees in the end.
    for (const member of this.#members) {
      await this.#timeline(member);
      if (member !== person) await this.#inbox(member, 0);
    }
    await this.#record(person);
    return { calls: this.#calls, record: await this.#entries(), people };
  }

  async #person(member: Member): Promise<void> {
    for (let step = 0; step < STEPS; step++) {
      if (step === REMOVAL) await this.#remove(member);
      const kind = member.luck.between(1, 10);
      if (kind <= 6) await this.#post(member);
      else if (kind <= 8) await this.#timeline(member);
      else await this.#record(member);
    }
  }

  async #agent(member: Member): Promise<void> {
    const last = member === this.#members.at(-1);
    for (let step = 0; step < STEPS && !member.removed; step++) {
      const kind = member.luck.between(1, 13);
      // Who will be removed keeps writing until it is.
      if (last || kind <= 3) await this.#post(member);
      else if (kind <= 5) await this.#inbox(member, WAIT_S);
      else if (kind === 6) await this.#inbox(member, 0);
      else if (kind <= 8) await this.#acknowledge(member);
      else if (kind === 9) await this.#timeline(member);
      else if (kind === 10) await member.luck.pick([...member.asked, () => this.#timeline(member)])();
      else await this.#take(member);
      if (last && !this.#removed) step = 0;
    }
  }

  /** All wait at one server while the person writes at another, if there is another. */
  async #words(person: Member, agents: Member[]): Promise<void> {
    for (let n = 0; n < ROUNDS; n++) {
      const began = performance.now();
      for (const agent of agents) await this.#inbox(agent, 0);
      const took = performance.now() - began;
      const waits = agents.map((agent) => this.#inbox(agent, LAST_WAIT_S, 0));
      // By then most of them sleep; whoever does not yet says nothing about waking.
      await new Promise((resolve) => setTimeout(resolve, took + this.#luck.between(50, 150)));
      await this.#post(person, 1, ['all']);
      await Promise.all(waits);
    }
  }

  /** Now and then the same is sent twice at once. */
  async #post(member: Member, server?: number, to = this.#someone(member)): Promise<void> {
    const subject = `${member.id} says ${member.asked.length}`;
    const { between } = member.luck;
    const request = { params: { board: this.#board }, body: { body: subject, to }, key: `post ${subject}` };
    const note: Noted = { wish: 'post', subject, key: request.key };
    const post = () => this.#call(member, note, 'postMessage', request, (body) => ({ seq: body.seq }), server);
    member.asked.push(post);
    await Promise.all(between(1, 4) === 1 ? [post(), post()] : [post()]);
  }

  #someone({ api, luck }: Member): string[] {
    const { name } = luck.pick(this.#agents);
    return name === (api as Agent).name || luck.between(1, 3) === 1 ? ['all'] : [`@${name}`];
  }

  async #open(member: Member, n: number): Promise<void> {
    const title = `task ${n}`;
    const request = { params: { board: this.#board }, body: { title, about: 'why' }, key: title };
    await this.#call(member, { wish: 'open', subject: title, key: title }, 'createTask', request);
  }

  async #take(member: Member): Promise<void> {
    const task = member.luck.between(1, TASKS);
    const key = `take ${task} ${member.id}`;
    const request = { params: { board: this.#board, task }, body: {}, key };
    await this.#call(member, { wish: 'take', subject: `task ${task}`, key }, 'startTask', request);
  }

  async #remove(member: Member): Promise<void> {
    const { name, memberId } = this.#agents.at(-1) as Agent;
    const request = { params: { board: this.#board, member: name }, key: `remove ${name}` };
    await this.#call(member, { wish: 'remove', subject: memberId, key: request.key }, 'removeMember', request);
    this.#removed = true;
  }

  /** Two at once, of which the lower may come last. */
  async #acknowledge(member: Member): Promise<void> {
    const upTos = [member.seen, member.luck.between(0, member.seen)];
    await Promise.all(
      upTos.map((seq) =>
        this.#call(member, { wish: 'acknowledge', seq }, 'ackInbox', { body: { up_to: seq } }, ({ cursor }) => ({
          cursor,
        })),
      ),
    );
  }

  /** @param seconds how long it waits */
  async #inbox(member: Member, seconds: number, server?: number): Promise<void> {
    // Whatever is there already would be answered at once.
    if (seconds > 0) await this.#acknowledge(member);
    const note: Noted = { wish: 'inbox', ...(seconds > 0 ? { wait: seconds * 1_000 } : {}) };
    const query = { limit: 200, ...(seconds > 0 ? { wait: seconds } : {}) };
    const read = ({ messages, cursor }: { messages: { seq: number }[]; cursor: number }) => ({
      seqs: messages.map(({ seq }) => seq),
      cursor,
    });
    await this.#call(member, note, 'readInbox', { query }, read, server);
  }

  async #timeline(member: Member): Promise<void> {
    const request = { params: { board: this.#board }, query: { after: 0, limit: 200 } };
    await this.#call(member, { wish: 'timeline', seq: 0 }, 'listMessages', request, ({ messages }) => ({
      seqs: messages.map(({ seq }: { seq: number }) => seq),
    }));
  }

  async #record(member: Member): Promise<void> {
    const seq = member.luck.between(0, member.seen);
    const request = { params: { board: this.#board }, query: { after: seq, limit: 200 } };
    await this.#call(member, { wish: 'record', seq }, 'listEvents', request, ({ events }) => ({
      seqs: events.map((event: BoardEvent) => event.seq),
    }));
  }

  /** Asks servers until one answers, and notes it. */
  async #call(
    member: Member,
    note: Noted,
    name: Operation,
    request: Request,
    // biome-ignore lint/suspicious/noExplicitAny: each operation has its own answer.
    read: (body: any) => Partial<Answer> = () => ({}),
    server = member.luck.between(0, 1),
  ): Promise<void> {
    const { api } = member;
    const call: Call = { by: member.id, ...note, start: performance.now(), end: 0, answer: null };
    this.#calls.push(call);
    const { servers } = this.#crew;
    for (let n = server; ; n++) {
      const faults = this.#faults.get(++this.#sent) ?? [];
      const answer = new Client(servers[n % servers.length]?.url as string, api.token).call(name, request);
      for (const fault of faults) this.#strike(fault);
      const found = await answer.catch(() => null);
      if (found?.status === 500) throw new Error(`${name} was answered ${found.text}`);
      if (!found || found.status === 503 || found.code === 'idempotency_in_progress') {
        call.lost = true;
        if (performance.now() - call.start > PATIENCE_MS) throw new Error(`${name} was never answered`);
        await new Promise((resolve) => setTimeout(resolve, 5));
        // A wait that is sent again would be judged as if it had slept all the time.
        if (note.wait !== undefined && !found) call.start = performance.now();
        continue;
      }
      call.end = performance.now();
      const { status, code, text, body }: Answered<unknown> = found;
      call.answer = { status, code, bytes: text, ...(status < 300 ? read(body) : {}) };
      member.seen = Math.max(member.seen, call.answer.seq ?? 0, ...(call.answer.seqs ?? []));
      if (code === 'agent_removed') member.removed = true;
      return;
    }
  }

  #strike(fault: Fault): void {
    const { servers } = this.#crew;
    this.struck.push(fault);
    if ('kill' in fault) this.#killing = this.#killing.then(() => servers[fault.kill]?.kill());
    else if (fault.alone !== undefined) servers[fault.alone]?.child.jump(fault.jump, true);
    else for (const { child } of servers) child.jump(fault.jump);
  }

  /** The record as the rules take it. */
  async #entries(): Promise<Entry[]> {
    const entries: Entry[] = [];
    const titles = new Map<string, string>();
    for (let after: number | null = 0; after !== null; ) {
      const page: { events: BoardEvent[]; next_after: number | null } = await this.#crew.dana.ok('listEvents', {
        params: { board: this.#board },
        query: { after, limit: 200 },
      });
      for (const { seq, type, actor, data } of page.events) {
        const given = data as Record<string, string> & { recipients?: string[]; to?: string[] };
        if (given['title'] !== undefined) titles.set(given['task_id'] as string, given['title']);
        const subject = given['body'] ?? titles.get(given['task_id'] ?? '') ?? given['member_id'] ?? '';
        const to = given.to?.includes('all') ? null : (given.recipients ?? []);
        const by = (actor as { member_id?: string }).member_id ?? '';
        entries.push({ seq, type, by, subject, ...(type === 'message.posted' ? { to } : {}) });
      }
      after = page.next_after;
    }
    return entries;
  }
}
