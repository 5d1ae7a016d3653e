/**
 * Servers on one Postgres, simulated: what each step costs is given, and how the steps follow each other is as it is in
 * `server/db/batches.ts`, `db/postgres.ts`, `db/postgres-wake.ts`, `live/feed.ts`, `live/ended-credentials.ts` and `live/connection.ts`.
 */
import { type Chance, chance } from '../../faults/random.ts';
import type { Costs } from './costs.ts';
import { type IdlePrices, KEEPALIVE_MS, POLL_MS, SWEEP_MS } from './idle.ts';
import { type Course, Disk, Locks, Machine, type Step, Thread, Time } from './machine.ts';

export interface Layout {
  /** Server processes; the boards' streams are spread over them. */
  processes: number;
  /** Cores of the one machine on which all are, the load too; or else of each machine that has some of the processes. */
  cores: number;
  apart?: {
    processesEach: number;
    /** Of the machine with Postgres. */
    postgresCores: number;
    /** Milliseconds of a question to Postgres and its answer, beside the work. */
    roundTripMs: number;
  };
  boards: number;
  streamsPerBoard: number;
}

export type Load =
  /** They post the next once the last is answered; writer n is on board n, at process n. */
  | { writers: number }
  /** So many a second, on boards and at processes by chance. */
  | { posts: number; reads: number };

export interface Outcome {
  /** Posts answered a second. */
  rate: number;
  /** Milliseconds, each from before a post is sent. */
  answers: number[];
  deliveries: number[];
  /** Cores that each part kept busy: one of the processes, all of them, Postgres. */
  process: number;
  processes: number;
  postgres: number;
  syncs: number;
}

/** As in the sources. */
const MERGE_MS = 20;
const COALESCE_MS = 5;
const MAX_SHARED = 64;
const MAX_WAIT_MS = 10;
const MAX_TURNS = 16;
/** The least that a turn of the event loop takes. */
const TURN_MS = 0.02;
/** How much of its work is done before a batch has its locks; and of that of a post in the server, before and after its batch. */
const BEFORE = 0.2;
const OUTSIDE = 0.3;
/** Questions to Postgres, each once the last is answered: two before the locks are taken, two with them. */
const ROUND_TRIPS = 4;

/** The same costs where everything takes so many times as much CPU time. */
export function scaleCosts(costs: Costs, times: number): Costs {
  const of = <Prices extends Record<string, number>>(prices: Prices): Prices =>
    Object.fromEntries(Object.entries(prices).map(([unit, ms]) => [unit, ms * times])) as Prices;
  const idle = { server: of(costs.idle.server), postgres: of(costs.idle.postgres) };
  return { ...costs, server: of(costs.server), postgres: of(costs.postgres), load: of(costs.load), idle };
}

/** Runs the servers for `skip` and then `ms` milliseconds, of which only the latter count. */
export function simulate(costs: Costs, layout: Layout, load: Load, ms: number, skip = 1_000): Outcome {
  const world = new World(costs, layout);
  world.begin(load);
  world.time.until(skip);
  world.count();
  world.time.until(skip + ms);
  return world.outcome(ms);
}

interface Post {
  board: number;
  sent: number;
  answer: () => void;
}

class World {
  readonly time = new Time();
  readonly costs: Costs;
  readonly layout: Layout;
  readonly locks = new Locks();
  readonly disk: Disk;
  readonly answers: number[] = [];
  readonly deliveries: number[] = [];
  /** When the posts of each board were sent, in their order. */
  readonly posts: number[][];
  readonly #database: Machine;
  readonly #servers: Server[];
  readonly #load: Thread | null;
  readonly #chance = chance(1);
  #databaseBusy = 0;
  #counting = false;

  constructor(costs: Costs, layout: Layout) {
    this.costs = costs;
    this.layout = layout;
    this.disk = new Disk(this.time, costs.syncMs);
    this.posts = Array.from({ length: layout.boards }, () => []);
    const { processes, cores, apart } = layout;
    const count = apart ? Math.ceil(processes / apart.processesEach) : 1;
    const machine = (its: number): Machine =>
      new Machine(this.time, its, (ms) => this.#exponential(ms), costs.switchMs);
    const machines = Array.from({ length: count }, () => machine(cores));
    this.#database = apart ? machine(apart.postgresCores) : machines[0]!;
    this.#load = apart ? null : new Thread(machines[0]!);
    this.#servers = Array.from({ length: processes }, (_, n) => new Server(this, n, new Thread(machines[n % count]!)));
  }

  begin(load: Load): void {
    for (const server of this.#servers) server.begin(this.#chance);
    if ('writers' in load) {
      for (let n = 0; n < load.writers; n++)
        this.time.go(this.#write(n % this.layout.boards, this.#servers[n % this.#servers.length]!));
      return;
    }
    const server = (): Server => this.#chance.pick(this.#servers);
    const board = (): number => this.#chance.between(0, this.layout.boards - 1);
    this.time.go(this.#arrivals(load.posts, () => this.time.go(this.#post(board(), server()))));
    if (load.reads > 0) this.time.go(this.#arrivals(load.reads, () => this.time.go(server().read())));
  }

  /** From now on it counts. */
  count(): void {
    this.#counting = true;
    for (const { thread } of this.#servers) thread.busy = 0;
    this.#databaseBusy = 0;
    this.disk.syncs = 0;
  }

  outcome(ms: number): Outcome {
    const busy = this.#servers.map(({ thread }) => thread.busy / ms);
    return {
      rate: this.answers.length / (ms / 1_000),
      answers: this.answers,
      deliveries: this.deliveries,
      process: Math.max(...busy),
      processes: busy.reduce((sum, one) => sum + one, 0),
      postgres: this.#databaseBusy / ms,
      syncs: this.disk.syncs,
    };
  }

  /** Work of Postgres on a connection of its own. */
  ask(ms: number): Step {
    this.#databaseBusy += ms;
    return this.#database.work(ms);
  }

  /** A connection that Postgres will have so much work with, one question after the other. */
  connection(ms: number): Thread {
    this.#databaseBusy += ms;
    return new Thread(this.#database);
  }

  /** So many questions and answers on their way. */
  trips(count: number): Step {
    return this.time.wait(count * (this.layout.apart?.roundTripMs ?? 0));
  }

  /** Tells every process which boards changed. */
  *notify(boards: number[], from: Server): Course {
    yield this.ask(this.costs.postgres.wake);
    for (const server of this.#servers) this.time.go(server.hear(server === from ? [] : boards));
  }

  /** Frames on their way to those who follow. */
  *deliver(chunks: number, frames: number, sent: number[]): Course {
    const { load } = this.costs;
    if (this.#load) yield this.#load.work(chunks * load.chunk + frames * load.frame);
    if (this.#counting) for (const at of sent) this.deliveries.push(this.time.now - at);
  }

  *#write(board: number, server: Server): Course {
    for (;;) {
      yield this.#load!.work(this.costs.load.post);
      yield* this.#post(board, server);
    }
  }

  *#post(board: number, server: Server): Course {
    const sent = this.time.now;
    yield (answer) => this.time.go(server.take({ board, sent, answer }));
    if (this.#counting) this.answers.push(this.time.now - sent);
  }

  /** A time that is so long on average, as between two that come by chance. Work that always took as long would march in step. */
  #exponential(ms: number): number {
    return -Math.log(this.#chance.between(1, 1_000_000) / 1_000_000) * ms;
  }

  *#arrivals(perSecond: number, run: () => void): Course {
    for (;;) {
      yield this.time.wait(this.#exponential(1_000 / perSecond));
      run();
    }
  }
}

class Server {
  readonly thread: Thread;
  readonly #world: World;
  readonly #number: number;
  readonly #feeds = new Map<number, Feed>();
  #looking: Feed[] = [];
  readonly #changed = new Set<number>();
  readonly #queue: Post[] = [];
  #state: 'idle' | 'waiting' | 'running' = 'idle';
  #until = 0;
  #expected = 1;

  constructor(world: World, number: number, thread: Thread) {
    this.#world = world;
    this.#number = number;
    this.thread = thread;
  }

  *take(post: Post): Course {
    yield this.thread.work(this.#world.costs.server.post * OUTSIDE);
    this.#queue.push(post);
    if (this.#state === 'idle' || (this.#state === 'waiting' && this.#queue.length >= this.#expected)) this.#next();
  }

  *read(): Course {
    const { server, postgres } = this.#world.costs;
    yield* this.#asking(server.read, postgres.read);
  }

  /** Looks after its streams; each has a credential of its own. */
  begin({ between }: Chance): void {
    const { time, layout } = this.#world;
    const streams = Array.from({ length: layout.boards }, (_, board) => this.#streams(board));
    const followed = streams.filter((count) => count > 0).length;
    const open = streams.reduce((sum, count) => sum + count, 0);
    if (open === 0) return;
    for (const [unit, count, ms] of [
      ['stream', 1, KEEPALIVE_MS / open],
      ['credential', open, SWEEP_MS],
      ['board', followed, POLL_MS],
    ] as const)
      time.wait((ms * between(0, 1_000)) / 1_000)(() => time.go(this.#regularly(unit, count, ms)));
  }

  *#regularly(unit: keyof IdlePrices, count: number, ms: number): Course {
    const { costs, time } = this.#world;
    const { server, postgres } = costs.idle;
    for (;;) {
      time.go(this.#asking(server[unit] * count, postgres[unit] * count));
      yield time.wait(ms);
    }
  }

  /** A question to Postgres, with work before it and after its answer. */
  *#asking(own: number, asked: number): Course {
    yield this.thread.work(own / 2);
    yield this.#world.trips(1);
    yield this.#world.ask(asked);
    yield this.thread.work(own / 2);
  }

  *hear(boards: number[]): Course {
    yield this.thread.work(this.#world.costs.server.wake);
    for (const board of boards) this.#wake(board);
  }

  #next(): void {
    const { time } = this.#world;
    const until = this.#until;
    this.#state = 'waiting';
    if (until <= time.now || this.#queue.length >= this.#expected) this.#start();
    else
      time.wait(until - time.now)(() => {
        if (this.#state === 'waiting' && this.#until === until) this.#start();
      });
  }

  #start(): void {
    this.#state = 'running';
    this.#gather(0, MAX_TURNS);
  }

  /** Waits as long as turns of the event loop bring more. */
  #gather(known: number, turns: number): void {
    this.thread.work(TURN_MS)(() => {
      const queued = this.#queue.length;
      if (queued === known || queued === 1 || queued >= MAX_SHARED || turns === 0)
        this.#world.time.go(this.#run(this.#queue.splice(0, MAX_SHARED)));
      else this.#gather(queued, turns - 1);
    });
  }

  *#run(batch: Post[]): Course {
    const { time, costs, locks, disk } = this.#world;
    const began = time.now;
    const boards = [...new Set(batch.map(({ board }) => board))].sort((one, other) => one - other);
    const inside = batch.length * costs.server.post * (1 - 2 * OUTSIDE);
    const own = costs.server.batch + boards.length * costs.server.board + inside;
    const asked = costs.postgres.batch + boards.length * costs.postgres.board + batch.length * costs.postgres.post;
    yield this.thread.work(own * BEFORE);
    yield this.#world.trips(ROUND_TRIPS / 2);
    yield this.#world.ask(asked * BEFORE);
    for (const board of boards) yield locks.take(board);
    yield this.#pipeline(batch.length, own * (1 - BEFORE), asked * (1 - BEFORE));
    yield this.#world.trips(ROUND_TRIPS / 2);
    yield disk.sync();
    for (const { board, sent } of batch) this.#world.posts[board]!.push(sent);
    for (const board of boards) {
      locks.free(board);
      this.#wake(board);
    }
    this.#tell(boards);
    for (const { answer } of batch) this.thread.work(costs.server.post * OUTSIDE)(answer);
    this.#until = time.now + (batch.length > this.#queue.length ? Math.min((time.now - began) / 2, MAX_WAIT_MS) : 0);
    this.#expected = Math.min(batch.length + this.#queue.length, MAX_SHARED);
    if (this.#queue.length > 0) this.#next();
    else this.#state = 'idle';
  }

  /** A step of so many parts; while Postgres works on one, the next is made. */
  #pipeline(parts: number, own: number, asked: number): Step {
    return (resume) => {
      const connection = this.#world.connection(asked);
      let left = parts;
      for (let part = 0; part < parts; part++)
        this.thread.work(own / parts)(() =>
          connection.work(asked / parts)(() => {
            if (--left === 0) resume();
          }),
        );
    };
  }

  /** Tells the others, together with what else changes within a few milliseconds. */
  #tell(boards: number[]): void {
    if (this.#changed.size === 0)
      this.#world.time.wait(COALESCE_MS)(() => {
        this.#world.time.go(this.#world.notify([...this.#changed], this));
        this.#changed.clear();
      });
    for (const board of boards) this.#changed.add(board);
  }

  #wake(board: number): void {
    const streams = this.#streams(board);
    if (streams === 0) return;
    const feed = this.#feeds.get(board) ?? new Feed(this.#world, this, board, streams);
    this.#feeds.set(board, feed);
    feed.wake();
  }

  /** A feed looks, together with all others that do so in this turn of the event loop. */
  look(feed: Feed): void {
    if (this.#looking.push(feed) > 1) return;
    this.thread.work(0)(() => this.#world.time.go(this.#look(this.#looking.splice(0))));
  }

  *#look(feeds: Feed[]): Course {
    const { costs } = this.#world;
    const { server, postgres } = costs;
    const first = (server.look + feeds.length * server.feed) / 2;
    yield this.thread.work(first);
    yield this.#world.trips(1);
    const news = feeds.map((feed) => feed.news());
    const found = news.flat().length;
    yield this.#world.ask(postgres.look + feeds.length * postgres.feed + found * postgres.news);
    const chunks = feeds.reduce((sum, { streams }) => sum + streams, 0);
    const frames = feeds.reduce((sum, { streams }, n) => sum + news[n]!.length * streams, 0);
    yield this.thread.work(first + found * server.news + chunks * server.chunk + frames * server.frame);
    for (const feed of feeds) feed.looked();
    this.#world.time.go(this.#world.deliver(chunks, frames, news.flat()));
  }

  /** How many of a board's streams are here; where they do not come out even, another board's are at other processes. */
  #streams(board: number): number {
    const { processes, streamsPerBoard } = this.#world.layout;
    const turn = (this.#number + board) % processes;
    return Math.floor((streamsPerBoard + processes - 1 - turn) / processes);
  }
}

/** What the streams of one board at one process read together. */
class Feed {
  readonly streams: number;
  readonly #world: World;
  readonly #server: Server;
  readonly #board: number;
  #head = 0;
  #lastLook = Number.NEGATIVE_INFINITY;
  #planned = false;
  #looking = false;

  constructor(world: World, server: Server, board: number, streams: number) {
    this.streams = streams;
    this.#world = world;
    this.#server = server;
    this.#board = board;
  }

  wake(): void {
    if (this.#planned) return;
    this.#planned = true;
    const { time } = this.#world;
    const wait = this.#looking ? 1 : 0;
    time.wait(Math.max(this.#lastLook + MERGE_MS - time.now, wait))(() => {
      this.#planned = false;
      if (this.#looking) return this.wake();
      this.#looking = true;
      this.#lastLook = time.now;
      this.#server.look(this);
    });
  }

  /** When the posts that it finds were sent. */
  news(): number[] {
    const news = this.#world.posts[this.#board]!.slice(this.#head);
    this.#head += news.length;
    return news;
  }

  looked(): void {
    this.#looking = false;
  }
}
