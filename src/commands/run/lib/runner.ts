/** Keeps a seat's connection to the daemon and runs a program for each bundle. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connectHere, isAway } from '../../../cli/session/ask-daemon.ts';
import { sleep } from '../../../client/time.ts';
import { ask, isStopped, nextFrame } from '../../../daemon/control/ask.ts';
import type { Connection, Frame } from '../../../daemon/control/connection.ts';
import { DaemonError } from '../../../daemon/control/errors.ts';
import { MAX_ATTEMPTS, MOST_PUT_OFF_MS } from '../../../daemon/control/limits.ts';
import type { AgentRef, Carry, Header, SeatView } from '../../../daemon/protocol.ts';
import { textFor } from '../../../hook/say.ts';
import { Failure } from '../../../local/failure.ts';
import { startedAt } from '../../../local/process-ref.ts';
import type { Outcome } from './child.ts';
import type { RunLimit } from './limit.ts';

const LEAST_PAUSE_MS = 200;
const MOST_PAUSE_MS = 5_000;
/** So many starts in a row that fail in the same way end it. */
const FAILED_STARTS = 3;
/** So many tries in a row that reach no daemon, some seconds, until that is said. */
const UNREACHED_TRIES = 5;
/** How often it is said that the limit is reached. */
const TOLD_MS = 600_000;

interface RunnerOptions {
  harness: string;
  session: string;
  agent: AgentRef;
  /** Milliseconds without a bundle after which it ends; null never. */
  idleMs: number | null;
  stop: AbortSignal;
  limit: RunLimit;
  /** Runs the program and posts what it printed, if that is wanted. */
  take(text: string, handoffId: string): Promise<Outcome>;
  note(text: string): void;
}

/** What the daemon says of the session's seats. */
interface Held {
  seats?: SeatView[];
  lost?: AgentRef[];
}

export class Runner {
  readonly #options: RunnerOptions;
  readonly #header: Header;
  /** What has been taken in this process; a repeat of it is only confirmed. */
  readonly #done = new Set<string>();
  #running: string | null = null;
  #taking: Promise<void> = Promise.resolve();
  #connection: Connection | null = null;
  /** What could not be said because the connection was gone. */
  #unsaid: Frame[] = [];
  /** That a text was taken, until the daemon has noted it. */
  #unnoted: Frame | null = null;
  #idleSince = performance.now();
  #toldAt = Number.NEGATIVE_INFINITY;
  /** Tries in a row that reached no daemon. */
  #unreached = 0;
  /** Starts in a row that failed, and how. */
  #failedStarts = { exit: 0, times: 0 };
  #failure: Failure | null = null;
  /** Failed runs since the last one that ended well. */
  #failedRuns = 0;

  constructor(options: RunnerOptions) {
    this.#options = options;
    const { harness, session } = options;
    this.#header = { harness, session, boot: randomBytes(8).toString('hex'), started: startedAt(), cwd: process.cwd() };
  }

  /**
   * Until it is told to stop, has been idle for long enough, or another one serves the session.
   * @throws Failure `start_failed` with the exit code of the program that cannot be started; `agent_seat_elsewhere`,
   * `agent_removed` or `board_not_found` if nothing will come for its agent any more
   */
  async run(): Promise<void> {
    await Promise.race([this.#serveOn(), once(this.#options.stop, 'abort')]);
    await this.#taking;
    await this.#say({ op: 'goodbye' });
    this.#connection?.close();
    if (this.#failure) throw this.#failure;
  }

  /** One connection after the other. */
  async #serveOn(): Promise<void> {
    const { stop } = this.#options;
    let pause = LEAST_PAUSE_MS;
    for (let resumed = false; !stop.aborted; resumed = true) {
      const outcome = await this.#serve(resumed);
      if (outcome === 'over') break;
      if (outcome === 'served') pause = LEAST_PAUSE_MS;
      else this.#missed();
      await sleep(pause * (0.5 + Math.random() / 2));
      pause = Math.min(MOST_PAUSE_MS, pause * 2);
    }
  }

  /** One connection to its end. Only the first one has to come about. */
  async #serve(resumed: boolean): Promise<'over' | 'served' | 'absent'> {
    let welcome: Frame | null;
    try {
      // Each runner's starts count for themselves: all runners of a swarm start it at once where it has crashed.
      this.#connection = await connectHere({ start: true, client: this.#options.agent.member_id });
      await this.#connection.send({ op: 'hello', ...this.#header, source: 'startup', resumed });
      // Handled before anything is delivered, so that a new daemon delivers nothing while the program runs.
      if (this.#running) await this.#connection.send({ op: 'prompt' });
      welcome = await nextFrame(this.#connection, 20_000);
    } catch (error) {
      if (!resumed) throw error;
      this.#connection?.close();
      return 'absent';
    }
    const connection = this.#connection;
    if (this.#isStopped(welcome)) return 'over';
    if (welcome?.event !== 'welcome') return welcome?.event === 'release' ? 'over' : 'absent';
    if (!(await this.#isBound(welcome))) {
      connection.close();
      return this.#failure ? 'over' : 'absent';
    }
    this.#reached();
    for (const frame of this.#unsaid.splice(0)) await this.#say(frame);
    this.#failure ??= this.#goneIn(welcome);
    try {
      return await this.#listen(connection);
    } catch (error) {
      // It could not note what it was told, as with a full disk.
      if (!(error instanceof DaemonError)) throw error;
      connection.close();
      return 'absent';
    } finally {
      if (this.#unnoted) this.#unsaid.push(this.#unnoted);
      this.#unnoted = null;
    }
  }

  #missed(): void {
    this.#unreached++;
    if (this.#unreached === UNREACHED_TRIES)
      this.#options.note(
        `The delivery daemon cannot be reached, so ${this.#agent} gets nothing. It is tried again until it answers; to start it: service daemon start`,
      );
  }

  #reached(): void {
    if (this.#unreached >= UNREACHED_TRIES) this.#options.note('The delivery daemon answers again.');
    this.#unreached = 0;
  }

  /**
   * Takes the seat unless the daemon says that the session has it or lost it; one whose journal is new knows neither. A
   * daemon that goes away in the middle of it is asked again, and then the next one.
   */
  async #isBound({ seats = [], lost = [] }: Held): Promise<boolean> {
    if ([...seats, ...lost].some((seat) => this.#isOwn(seat))) return true;
    try {
      await this.#bind();
      return true;
    } catch (error) {
      if (!isAway(error)) throw error;
      if (isStopped(error)) this.#failure = this.#stopped();
      return false;
    }
  }

  /** The seat is this run's from now on; its messages come here. */
  async #bind(): Promise<void> {
    const connection = await connectHere({ start: false });
    const { boot: _, ...header } = this.#header;
    await ask(connection, 'bind', { ...header, agent: this.#options.agent }).finally(() => connection.close());
  }

  async #listen(connection: Connection): Promise<'over' | 'served'> {
    const { stop, idleMs } = this.#options;
    for (;;) {
      const frame = await nextFrame(connection, 250);
      if (stop.aborted || this.#failure) return 'over';
      if (frame === null && connection.isClosed) return 'served';
      if (frame === null && idleMs !== null && !this.#running && performance.now() - this.#idleSince > idleMs)
        return 'over';
      if (frame?.event === 'release') return 'over';
      if (this.#isStopped(frame)) return 'over';
      if (frame?.event === 'bye') return 'served';
      if (frame?.event === 'ok') this.#unnoted = null;
      if (frame?.event === 'seats') this.#failure ??= this.#goneIn(frame);
      if (frame?.event === 'deliver') this.#deliver(frame as Carry);
    }
  }

  /** Why nothing comes for its agent any more; null while it has its seat. */
  #goneIn({ seats = [], lost = [] }: Held): Failure | null {
    const said = this.#agent;
    if (lost.some((seat) => this.#isOwn(seat)))
      return new Failure('agent_seat_elsewhere', `Another session took ${said}.`, {
        hint: 'To take it back, start this again',
      });
    const problem = seats.find((seat) => this.#isOwn(seat))?.problem;
    if (problem !== 'agent_removed' && problem !== 'board_gone') return null;
    const [code, hint] =
      problem === 'board_gone'
        ? ['board_not_found', 'service board list shows the boards you can see']
        : [problem, 'service agents shows your agents. If service.yaml has this one, take it out there'];
    return new Failure(code, `The seat ${said} has ended.`, { hint });
  }

  #isOwn({ server, member_id }: AgentRef): boolean {
    const { agent } = this.#options;
    return server === agent.server && member_id === agent.member_id;
  }

  get #agent(): string {
    const { agent } = this.#options;
    return `${agent.name} on ${agent.board}`;
  }

  /** Whether the daemon says that it was stopped and no other one follows; then that ends this too. */
  #isStopped(frame: Frame | null): boolean {
    if (frame?.event !== 'bye' || frame.restart === true) return false;
    this.#failure ??= this.#stopped();
    return true;
  }

  #stopped(): Failure {
    return new Failure(
      'daemon_not_running',
      `The delivery daemon was stopped, so ${this.#agent} gets nothing any more.`,
      { hint: 'Start this again: it starts the daemon too' },
    );
  }

  #deliver(carry: Carry): void {
    const id = carry.handoff_id;
    if (!id || this.#running === id) return;
    if (this.#done.has(id)) return void this.#say({ op: 'received', handoff_id: id });
    if (this.#running) return void this.#say({ op: 'failed', handoff_id: id, later: true });
    const { limit } = this.#options;
    const waitMs = carry.by_agents ? Math.min(MOST_PUT_OFF_MS, Math.ceil(limit.waitMs())) : 0;
    if (waitMs > 0) return void this.#putOff(id, waitMs);
    if (carry.by_agents) limit.started();
    this.#running = id;
    this.#taking = this.#take(id, textFor(carry)).finally(() => {
      this.#running = null;
      this.#idleSince = performance.now();
    });
  }

  /** What only agents wrote waits, and what a person writes comes all the same. */
  #putOff(id: string, waitMs: number): void {
    const { limit, note } = this.#options;
    const now = performance.now();
    this.#idleSince = now + waitMs;
    if (now - this.#toldAt > TOLD_MS) {
      this.#toldAt = now;
      const until = new Date(Date.now() + waitMs).toLocaleTimeString('sv-SE');
      note(
        `Agents’ messages have started the program ${limit.reached()}, so those wait until ${until}. What a person writes starts it at once.`,
      );
    }
    void this.#say({ op: 'failed', handoff_id: id, later: true, agents_after_ms: waitMs });
  }

  async #take(id: string, text: string): Promise<void> {
    const { take, note, stop } = this.#options;
    // The program works now; that its text is in is only said when it has ended well.
    await this.#say({ op: 'prompt', wake: true, handoff_id: id });
    if (stop.aborted) return;
    const outcome = await take(text, id).catch((error: unknown): Outcome => {
      const reason = error instanceof Failure || error instanceof Error ? error.message : String(error);
      return { kind: 'failed', reason };
    });
    if (stop.aborted && outcome.kind !== 'done') return;
    if (outcome.kind === 'done') this.#done.add(id);
    if (outcome.kind === 'failed' && !outcome.told) note(`The program failed: ${outcome.reason}`);
    this.#noteIfGivenUp(outcome);
    this.#failure ??= this.#failureOf(outcome);
    await this.#say(said(id, outcome));
    await this.#say({ op: 'turn_end' });
  }

  /** The daemon stops trying after some failures. */
  #noteIfGivenUp({ kind }: Outcome): void {
    if (kind === 'done') this.#failedRuns = 0;
    if (kind !== 'failed' || ++this.#failedRuns < MAX_ATTEMPTS) return;
    this.#failedRuns = 0;
    this.#options.note(
      `That was ${MAX_ATTEMPTS} failures in a row: what it was given stays unread, and is given again when this, or the delivery daemon, is started again.`,
    );
  }

  /** What ends it: a program that cannot be started will not be by waiting. */
  #failureOf(outcome: Outcome): Failure | null {
    const exit = (outcome.kind === 'failed' && outcome.exit) || 0;
    const { times, exit: before } = this.#failedStarts;
    this.#failedStarts = { exit, times: exit === before ? times + 1 : 1 };
    if (exit === 0 || this.#failedStarts.times < FAILED_STARTS) return null;
    const reason = outcome.kind === 'failed' ? outcome.reason : '';
    return new Failure('start_failed', `The program could not be started ${FAILED_STARTS} times in a row: ${reason}.`, {
      hint: 'What it was to be given stays unread: start it again when the program is there',
      exit,
    });
  }

  /** Says it now, or as soon as there is a connection again. */
  async #say(frame: Frame): Promise<void> {
    try {
      if (!this.#connection || this.#connection.isClosed) throw new Error('no connection');
      if (frame['op'] === 'received') this.#unnoted = frame;
      await this.#connection.send(frame);
    } catch {
      if (frame !== this.#unnoted) this.#unsaid.push(frame);
    }
  }
}

function said(id: string, outcome: Outcome): Frame {
  if (outcome.kind === 'done') return { op: 'received', handoff_id: id };
  if (outcome.kind === 'later') return { op: 'failed', handoff_id: id, later: true };
  return { op: 'failed', handoff_id: id, reason: outcome.reason.slice(0, 200) };
}
