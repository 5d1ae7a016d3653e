/** One random life: three sessions with three seats, what happens to them, and what must hold after each step. */
import type { PortDeps } from '../../../src/daemon/ports.ts';
import type { SeatIdentity } from '../../../src/daemon/refs.ts';
import type { Agent } from '../../support/cast.ts';
import { TestDaemonClock } from '../../support/daemon-clock.ts';
import { aMessage, fromOwner } from '../../support/messages.ts';
import type { TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { Breakable } from './breakable.ts';
import { FakeServers } from './fake-servers.ts';
import type { Frame, Line } from './line.ts';
import { fakeAdapter } from './parts.ts';
import { Rig, type TestSession } from './rig.ts';

/**
 * `new`: to be given. `sent`: on the way to a waiting hook. `taken`: a hook has printed it and said so. `swallowed`: taken,
 * and a prompt came in place of the wake, so it is given again or counts as received. `received`: never given again.
 */
type State = 'new' | 'sent' | 'taken' | 'swallowed' | 'received';

interface Post {
  seq: number;
  text: string;
  owner: boolean;
  wakes: boolean;
  state: State;
  /** It was on the way before, so that its handoff is repeated alone. */
  again: boolean;
  by: Member | null;
  viaWait: boolean;
  /** A session had it in its context. */
  entered: boolean;
}

interface Place {
  seat: SeatIdentity;
  posts: Post[];
  holder: Member | null;
}

interface Member {
  name: string;
  at: TestSession;
  line: Line | null;
  /** A handoff that its waiting hook was sent and that has no outcome yet. */
  wake: Frame | null;
  boots: number;
}

export class Life {
  readonly #seed: number;
  #state: number;
  readonly #rig: Rig;
  readonly #clock = new TestDaemonClock();
  readonly #servers = new FakeServers(this.#clock);
  readonly #journal = new Breakable();
  readonly #places: Place[] = [];
  readonly #members: Member[] = [];
  readonly #trace: string[] = [];
  #sessions!: PortDeps['sessions'];
  #count = 0;
  /** At the end every hook does its work. */
  #calm = false;

  constructor(server: TestServer, seed: number) {
    this.#seed = seed;
    this.#state = (seed * 2_654_435_761) >>> 0 || 1;
    this.#rig = new Rig(server);
  }

  async run(steps: number): Promise<void> {
    try {
      await this.#begin();
      for (let n = 0; n < steps; n++) {
        await this.#step();
        await this.#settle();
        this.#check();
      }
      await this.#finish();
    } catch (error) {
      throw new Error(`seed ${this.#seed}: ${(error as Error).stack}\n  ${this.#trace.join('\n  ')}`);
    } finally {
      await Promise.all(this.#members.map(({ line }) => line?.end()));
      await this.#stop(() => this.#rig.stop());
    }
  }

  async #begin(): Promise<void> {
    await this.#start();
    for (const [n, board] of ['one', 'one', 'two'].entries()) {
      const agent = { memberId: `mem_${String(n).padStart(26, '0')}`, name: `agent-${n}`, token: `aba_${n}` };
      const on = { id: `brd_${board.toUpperCase().replaceAll('O', '0').padStart(26, '0')}`, name: board };
      const seat = await this.#rig.machine.holds(this.#rig.origin, on, agent as Agent);
      this.#places.push({ seat, posts: [], holder: null });
      this.#servers.boxes.set(seat.member_id, { seat, messages: [], cursor: 0 });
    }
    for (const name of ['a', 'b', 'c'])
      this.#members.push({ name, at: await this.#rig.session(), line: null, wake: null, boots: 0 });
    for (const [n, place] of this.#places.entries()) await this.#take(this.#members[n % 2]!, place);
    await this.#settle();
  }

  #start(): Promise<Rig> {
    return this.#rig.start({
      clock: this.#clock,
      adapter: fakeAdapter(['idle-hook', 'turn-start', 'tool-boundary']),
      journal: (journal) => this.#journal.of(journal),
      ports: ({ sessions, serverEvents }) => {
        this.#sessions = sessions;
        return { servers: this.#servers.port(serverEvents) };
      },
    });
  }

  async #stop(stop: () => Promise<unknown>): Promise<void> {
    let over = false;
    const stopped = stop().finally(() => {
      over = true;
    });
    while (!over) await this.#clock.advance(25);
    await stopped;
  }

  #random(below: number): number {
    this.#state ^= this.#state << 13;
    this.#state >>>= 0;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    this.#state >>>= 0;
    return this.#state % below;
  }

  #pick = <T>(list: readonly T[]): T => list[this.#random(list.length)]!;

  #inFlight = ({ at }: Member): boolean => this.#sessions.get(at.key)?.flight != null;
  #heldBy = (member: Member): Place[] => this.#places.filter(({ holder }) => holder === member);
  #postsOf = (member: Member): Post[] => this.#heldBy(member).flatMap(({ posts }) => posts);

  async #step(): Promise<void> {
    const member = this.#pick(this.#members);
    if (member.wake) return this.#wakeEnds(member);
    const what = this.#random(100);
    if (what < 34) return this.#say();
    if (what < 50) return member.line ? undefined : this.#wait(member);
    if (what < 60) return this.#hook(member, 'turn_start');
    if (what < 72) return member.line ? undefined : this.#hook(member, 'boundary');
    if (what < 78) return this.#take(member, this.#pick(this.#places));
    if (what < 82) return this.#resume(member);
    if (what < 85) return this.#end(member);
    if (what < 91) return this.#restart(this.#random(2) === 0);
    if (what < 94) return this.#serverGoes();
    if (what < 97) {
      this.#trace.push('answers to acknowledgements are lost');
      this.#servers.lostAnswers = 1 + this.#random(2);
      return;
    }
    this.#trace.push('time passes');
    await this.#clock.advance(this.#pick([300, 12_000, 70_000]));
  }

  #say(): void {
    const place = this.#pick(this.#places);
    const kind = this.#pick(['owner', 'peer', 'quiet'] as const);
    const seq = ++this.#count;
    const text = `m${seq}x`;
    const { seat } = place;
    const body = { body: text, board: seat.board, to: [kind === 'quiet' ? 'all' : `@${seat.name}`] };
    place.posts.push({
      seq,
      text,
      owner: kind === 'owner',
      wakes: kind !== 'quiet',
      state: 'new',
      again: false,
      by: null,
      viaWait: false,
      entered: false,
    });
    this.#trace.push(`${kind} says ${text} to ${seat.name}`);
    this.#servers.post(seat, kind === 'owner' ? fromOwner(seq, body) : aMessage(seq, body));
  }

  async #take(member: Member, place: Place): Promise<void> {
    this.#trace.push(`${member.name} takes ${place.seat.name}`);
    const answer = await member.at.bind(place.seat);
    if (answer['error']) throw new Error(JSON.stringify(answer));
    if (place.holder === member) return;
    const replaced = this.#heldBy(member).find(({ seat }) => seat.board_id === place.seat.board_id);
    for (const one of replaced ? [place, replaced] : [place])
      for (const post of one.posts) if (post.state !== 'received') Object.assign(post, { state: 'new', again: false });
    if (replaced) replaced.holder = null;
    place.holder = member;
  }

  /** What a text holds, each of it checked: it is for a seat of this session, not on its way, and not received before. */
  #given(member: Member, carry: Frame): Post[] {
    const texts = [...String(carry['bundle'] ?? '').matchAll(/\bm\d+x\b/g)].map(([text]) => text);
    if (new Set(texts).size < texts.length) throw new Error(`twice in one text: ${texts}`);
    return texts.map((text) => {
      const post = this.#postsOf(member).find((one) => one.text === text);
      if (!post) throw new Error(`${member.name} was given ${text}, which is for no seat of it`);
      if (post.state !== 'new' && post.state !== 'swallowed') throw new Error(`${text} again, it is ${post.state}`);
      return post;
    });
  }

  /** The text stands in the context of the session: in order among what is alike, unless it stood there before. */
  #enters(member: Member, given: readonly Post[]): void {
    for (const { posts } of this.#heldBy(member))
      for (const post of posts.filter((one) => given.includes(one) && !one.entered)) {
        const late = posts.find((one) => one.entered && !one.again && one.seq > post.seq && alike(one, post));
        if (late && post.state === 'new' && !post.again) throw new Error(`${post.text} came after ${late.text}`);
        post.entered = true;
      }
  }

  /** After an event of a session: what it took before is received. A prompt in place of a wake leaves that open. */
  #event(member: Member, kind: 'prompt' | 'other'): void {
    for (const { posts } of this.#places)
      for (const post of posts) {
        if (post.by !== member || post.state !== 'taken') continue;
        post.state = kind === 'prompt' && post.viaWait ? 'swallowed' : 'received';
      }
  }

  /** The hook that waited is gone: what it was sent is to be given again. */
  async #lineEnds(member: Member): Promise<void> {
    const { line } = member;
    member.line = null;
    member.wake = null;
    for (const { posts } of this.#places)
      for (const post of posts)
        if (post.state === 'sent' && post.by === member) Object.assign(post, { state: 'new', again: true });
    await line?.end();
  }

  async #hook(member: Member, op: 'turn_start' | 'boundary', wake: Frame = {}): Promise<void> {
    const isWake = 'wake' in wake;
    const outcome = isWake || this.#calm ? 'takes' : this.#pick(['takes', 'takes', 'dies', 'prints and dies']);
    this.#trace.push(`${member.name} ${op}${isWake ? ' (wake)' : `, ${outcome}`}`);
    await this.#clock.advance(1);
    const line = await member.at.open(op, { started: this.#clock.nowUs(), ...wake });
    const carry = await line.next();
    await this.#lineEnds(member);
    if (!isWake) this.#event(member, op === 'turn_start' ? 'prompt' : 'other');
    const given = this.#given(member, carry);
    if (isWake && given.length > 0) throw new Error('a wake echo carries messages');
    if (!isWake && !this.#servers.away && !this.#inFlightOfOther(member, carry)) {
      const waiting = this.#postsOf(member).filter(({ state }) => state === 'new');
      const due = waiting.filter(({ owner }) => op === 'turn_start' || owner);
      const repeats = op === 'turn_start' && given.some(({ again, state }) => again || state === 'swallowed');
      const missing = due.filter((post) => !given.includes(post));
      if (missing.length > 0 && !repeats) throw new Error(`${missing.map(({ text }) => text)} was due at ${op}`);
      if (op === 'boundary' && given.some(({ owner }) => !owner)) throw new Error('a peer entered a running turn');
    }
    if (outcome !== 'dies') this.#enters(member, given);
    if (carry['handoff_id'] && outcome === 'takes') {
      const ok = await line.send({ op: 'received', handoff_id: carry['handoff_id'] }).next();
      if (ok['event'] !== 'ok') throw new Error(JSON.stringify(ok));
      for (const post of given) Object.assign(post, { state: 'taken', by: member, viaWait: false });
    } else for (const post of given) Object.assign(post, { state: 'new', again: true });
    await line.end();
  }

  /** A handoff is in flight that is not the one of this answer: nothing else is given then. */
  #inFlightOfOther({ at }: Member, { handoff_id: id }: Frame): boolean {
    const flight = this.#sessions.get(at.key)?.flight;
    return flight != null && flight.id !== id;
  }

  async #wait(member: Member, resumed = false): Promise<void> {
    this.#trace.push(`${member.name} waits${resumed ? ' again' : ''}`);
    await this.#clock.advance(1);
    const line = await member.at.open('wait', { started: this.#clock.nowUs(), ...(resumed ? { resumed } : {}) });
    const first = await line.next();
    if (first['event'] !== 'waiting') throw new Error(`no wait: ${JSON.stringify(first)}`);
    if (!resumed) this.#event(member, 'other');
    member.line = line;
  }

  /** What becomes of a wake that a waiting hook was sent. */
  async #wakeEnds(member: Member): Promise<void> {
    const { line, wake } = member;
    const posts = this.#postsOf(member).filter(({ state, by }) => state === 'sent' && by === member);
    const outcome = this.#calm ? 'wakes' : this.#pick(['wakes', 'wakes', 'dies', 'prints and dies', 'swallowed']);
    this.#trace.push(`${member.name} ${outcome} ${posts.map(({ text }) => text)}`);
    if (outcome === 'dies') return this.#lineEnds(member);
    const echo = { wake: true, handoff_id: wake!['handoff_id'] };
    if (outcome === 'prints and dies') {
      await this.#lineEnds(member);
      await until(() => !this.#inFlight(member) || this.#pendingAgain(member, echo.handoff_id), 'the end is noticed');
    } else {
      const ok = await line!.send({ op: 'received', handoff_id: echo.handoff_id }).next();
      if (ok['event'] !== 'ok') throw new Error(JSON.stringify(ok));
      for (const post of posts) Object.assign(post, { state: 'taken', viaWait: true });
      await this.#lineEnds(member);
    }
    if (outcome === 'swallowed') return this.#hook(member, 'turn_start');
    this.#enters(member, posts);
    await this.#hook(member, 'turn_start', echo);
    // The echo shows that the session has it.
    for (const post of posts) Object.assign(post, { state: 'taken', by: member, viaWait: false });
  }

  #pendingAgain = ({ at }: Member, id: unknown): boolean => this.#sessions.get(at.key)?.flight?.id !== id;

  /** What a session had taken and was not received comes again: it has a new boot, or ended. */
  #fence(member: Member): void {
    for (const { posts } of this.#places)
      for (const post of posts)
        if (post.by === member && ['taken', 'sent'].includes(post.state))
          Object.assign(post, { state: 'new', again: true });
  }

  async #resume(member: Member): Promise<void> {
    this.#trace.push(`${member.name} is resumed`);
    await this.#clock.advance(1_500);
    member.at.header = { ...member.at.header, boot: `${member.name}${++member.boots}`.padStart(16, '0') };
    const answer = await member.at.ask('register', { source: 'resume' });
    if (answer['error']) throw new Error(JSON.stringify(answer));
    this.#fence(member);
    await this.#lineEnds(member);
  }

  async #end(member: Member): Promise<void> {
    this.#trace.push(`${member.name} ends`);
    await member.at.ask('end');
    this.#fence(member);
    await this.#lineEnds(member);
  }

  async #restart(crash: boolean): Promise<void> {
    this.#trace.push(crash ? 'the daemon crashes' : 'the daemon restarts');
    this.#journal.broken = crash;
    const waiting = this.#members.filter(({ line }) => line);
    await Promise.all(waiting.map((member) => this.#lineEnds(member)));
    await this.#stop(() => this.#rig.daemon.stop(true));
    this.#journal.broken = false;
    await this.#start();
    for (const member of waiting) await this.#wait(member, true);
  }

  #serverGoes(): void {
    this.#trace.push(this.#servers.away ? 'the server is back' : 'the server is away');
    if (this.#servers.away) this.#servers.comeBack();
    else this.#servers.leave();
  }

  /** Until nothing happens any more by itself. */
  async #settle(): Promise<void> {
    for (let n = 0; n < 3; n++) {
      await this.#clock.advance(1_100);
      await this.#rig.ask('status');
      await until(() => this.#sessions.all().every(({ preparing, boundary }) => !preparing && !boundary), 'quiet');
    }
    for (const member of this.#members) {
      const flight = this.#sessions.get(member.at.key)?.flight;
      if (!member.line || member.wake || flight?.path !== 'wait' || flight.acceptedUs !== null) continue;
      member.wake = await member.line.next();
      const given = this.#given(member, member.wake);
      for (const post of given) Object.assign(post, { state: 'sent', by: member });
    }
  }

  #check(): void {
    for (const member of this.#members) {
      if (!member.line || this.#servers.away || this.#inFlight(member)) continue;
      const due = this.#postsOf(member).filter(({ state, wakes }) => state === 'new' && wakes);
      if (due.length > 0) throw new Error(`${member.name} is idle and not woken for ${due.map(({ text }) => text)}`);
    }
    for (const { seat, posts } of this.#places) {
      const { cursor } = this.#servers.boxes.get(seat.member_id)!;
      const early = posts.find(({ seq, state }) => seq <= cursor && state !== 'received' && state !== 'swallowed');
      if (early) throw new Error(`${early.text} is acknowledged and ${early.state}`);
    }
  }

  /** In the end every message was received and is acknowledged. */
  async #finish(): Promise<void> {
    this.#trace.push('the end');
    this.#calm = true;
    this.#servers.lostAnswers = 0;
    if (this.#servers.away) this.#serverGoes();
    for (const place of this.#places.filter(({ holder }) => !holder)) {
      const free = this.#members.find(
        (one) => !this.#heldBy(one).some(({ seat }) => seat.board_id === place.seat.board_id),
      );
      await this.#take(free!, place);
    }
    for (let n = 0; n < 6; n++)
      for (const member of this.#members) {
        await this.#settle();
        if (member.wake) await this.#wakeEnds(member);
        else await this.#hook(member, n % 2 ? 'boundary' : 'turn_start');
        await this.#settle();
      }
    for (const member of this.#members) if (!member.line) await this.#wait(member);
    await this.#clock.advance(120_000);
    await this.#settle();
    for (const { seat, posts } of this.#places) {
      const { cursor } = this.#servers.boxes.get(seat.member_id)!;
      const last = posts.at(-1)?.seq ?? 0;
      if (cursor < last)
        throw new Error(`#${cursor} of ${seat.name} is acknowledged, and not #${last}: ${posts.at(-1)!.state}`);
    }
  }
}

const alike = (one: Post, other: Post): boolean => one.owner === other.owner && one.wakes === other.wakes;
