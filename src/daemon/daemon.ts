/** The daemon put together: from the journal to the socket, and down again. */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { Build } from '../local/build.ts';
import { writePrivate } from '../local/private-file.ts';
import { type DaemonClock, endingTogether, every, tryingAgain } from './clock.ts';
import { ControlServer } from './control/server.ts';
import type { Core, Ports } from './core.ts';
import type { Faults } from './faults.ts';
import { noting } from './handoff/noting.ts';
import { recover, resumeAcks } from './handoff/recover.ts';
import { consider } from './handoff/wake.ts';
import { Acknowledger } from './inbox/acknowledge.ts';
import type { Journal } from './journal/types.ts';
import type { Log } from './log.ts';
import { Metrics } from './metrics.ts';
import type { DaemonPaths } from './paths.ts';
import { Doors } from './sessions/doors.ts';
import { SCAN_MS, scan } from './sessions/liveness.ts';
import { Seats } from './sessions/seats.ts';
import { Sessions } from './sessions/sessions.ts';
import { type Running, statusOf } from './status.ts';
import type { OriginEvents } from './types.ts';
import { ControlRefusal } from './types.ts';
import { answerFrame, type MoreVerbs } from './verbs/verbs.ts';

const GRACE_MS = 5_000;
const IDLE_MS = 600_000;
const HOUR_MS = 3_600_000;
/** Until what the journal did not take is tried again. */
const AGAIN_MS = 2_000;

export interface DaemonOptions {
  paths: DaemonPaths;
  clock: DaemonClock;
  journal: Journal;
  log: Log;
  faults: Faults;
  build: Build;
  /** Connects to the world; told what servers say. Of the core, sessions and seats are there once it runs. */
  ports(events: OriginEvents, core: Core): Ports;
  /** Verbs that other parts bring. */
  verbs?: Pick<MoreVerbs, 'pairing'>;
}

export class Daemon {
  readonly core: Core;
  /** Resolves when it has stopped. */
  readonly stopped: Promise<void>;
  readonly #options: DaemonOptions;
  readonly #running: Running;
  readonly #endTimers: () => void;
  readonly #cancels: (() => void)[] = [];
  #control: ControlServer | null = null;
  #stopped!: () => void;
  /** It stops because another one comes. */
  #replaced = false;
  #busyAtUs: number;

  private constructor(options: DaemonOptions) {
    const { paths, journal, log, faults, build } = options;
    // A disk that is full ends nothing: what a timer could not write down is tried again.
    const lasting = tryingAgain(options.clock, AGAIN_MS, (error) => unwritable(log, error));
    const { clock, end } = endingTogether(lasting);
    this.#endTimers = end;
    this.#options = options;
    this.#running = {
      pid: process.pid,
      build,
      startedAt: new Date(clock.now()).toISOString(),
      instance: randomBytes(8).toString('hex'),
    };
    this.stopped = new Promise((resolve) => {
      this.#stopped = resolve;
    });
    this.#busyAtUs = clock.nowUs();
    const core = { paths, clock, journal, log, faults, metrics: new Metrics(), stopping: false } as unknown as Core;
    core.consider = (session) => {
      try {
        consider(core, session);
      } catch (error) {
        if (!unwritable(log, error)) throw error;
        core.clock.after(AGAIN_MS, () => consider(core, session));
      }
    };
    core.sessions = new Sessions(core);
    core.doors = new Doors();
    core.acks = new Acknowledger(core);
    // Servers speak only after they are asked to, and by then the seats are there.
    const late: OriginEvents = {
      inbox: (...told) => core.seats.inbox(...told),
      read: (...told) => core.seats.read(...told),
      mode: (...told) => core.seats.mode(...told),
      notices: (...told) => core.seats.notices(...told),
      problem: (...told) => core.seats.problem(...told),
      token: (...told) => core.seats.token(...told),
    };
    Object.assign(core, options.ports(late, core));
    core.seats = new Seats(core);
    this.core = core;
  }

  /** Recovers, listens, then connects: when the socket answers it is ready. Only under the daemon's lock. */
  static async start(options: DaemonOptions): Promise<Daemon> {
    const daemon = new Daemon(options);
    const { core } = daemon;
    await scan(core);
    recover(core);
    daemon.#control = await ControlServer.listen({
      paths: options.paths,
      clock: options.clock,
      request: (frame, peer) => {
        daemon.#busyAtUs = options.clock.nowUs();
        if (core.stopping && frame.op !== 'status') throw stopping(daemon.#replaced);
        return answerFrame(core, daemon.#verbs(), frame, peer);
      },
      failed: (op, error) => core.log.write(isJournal(error) ? 'journal_error' : 'hook_error', { op }, 'error'),
    });
    daemon.#writeInfo();
    core.seats.watchAll();
    resumeAcks(core);
    daemon.#cancels.push(
      every(options.clock, SCAN_MS, () => daemon.#watch()),
      every(options.clock, HOUR_MS, () => daemon.#tidy()),
    );
    for (const session of core.sessions.open()) core.sessions.changed(session);
    core.log.write('daemon_started', { pid: process.pid, version: options.build.version });
    return daemon;
  }

  /** Lets what is under way finish for a few seconds, then closes. @param restart whether waiting hooks shall come back */
  async stop(restart: boolean): Promise<void> {
    const { core } = this;
    if (core.stopping) return this.stopped;
    core.stopping = true;
    this.#replaced = restart;
    core.log.write('daemon_stopping', { restart });
    for (const cancel of this.#cancels.splice(0)) cancel();
    this.#control?.stop(restart);
    const endUs = core.clock.nowUs() + GRACE_MS * 1000;
    while (core.clock.nowUs() < endUs && (core.acks.running || this.#handing())) await pause(core.clock, 25);
    this.#endTimers();
    // Connections that close give back what nobody took.
    await this.#control?.closeAll();
    await Promise.allSettled([core.origins.close(), core.reports.close()]);
    core.delegating.close();
    core.pairing?.endpoints.close();
    core.journal.close();
    rmSync(this.#options.paths.info, { force: true });
    this.#stopped();
  }

  #verbs(): MoreVerbs {
    return {
      ...this.#options.verbs,
      status: () => statusOf(this.core, this.#running),
      shutdown: (_core, frame, peer) => {
        peer.send({});
        void this.stop(frame.restart);
      },
    };
  }

  /** A text was exposed and its carrier has not answered yet. */
  #handing(): boolean {
    return this.core.sessions.all().some(({ flight }) => flight !== null && flight.acceptedUs === null);
  }

  async #watch(): Promise<void> {
    const { core } = this;
    try {
      await scan(core);
    } catch (error) {
      if (!unwritable(core.log, error)) throw error;
    }
    const busy = core.sessions.open().length > 0 || (this.#control?.connections ?? 0) > 0 || this.#unacknowledged();
    const now = core.clock.nowUs();
    if (busy) this.#busyAtUs = now;
    else if (now - this.#busyAtUs >= IDLE_MS * 1000) void this.stop(false);
  }

  /** A full disk is told of elsewhere; here it only means that nothing gets smaller. */
  #tidy(): void {
    const { core } = this;
    noting(core, () => core.journal.retain(core.clock.now()));
    core.sessions.prune();
  }

  #unacknowledged(): boolean {
    return this.core.seats.all().some(({ received, row }) => received.size > 0 && row.problem === null);
  }

  #writeInfo(): void {
    const { paths } = this.#options;
    const { pid, build, startedAt } = this.#running;
    const info = { pid, protocol: 1, build, started_at: startedAt, socket: paths.socket };
    writePrivate(paths.info, `${JSON.stringify(info)}\n`);
  }
}

/** Whether the journal could not be used, which is told and passes. */
function unwritable(log: Log, error: unknown): boolean {
  if (!isJournal(error)) return false;
  log.write('journal_error', {}, 'error');
  return true;
}

const pause = (clock: DaemonClock, ms: number): Promise<void> => new Promise((resolve) => clock.after(ms, resolve));

const stopping = (restart: boolean): ControlRefusal =>
  new ControlRefusal('daemon_stopping', 'The delivery daemon is stopping.', {
    hint: 'Run the command again',
    ...(restart ? { details: { restart } } : {}),
  });

const isJournal = (error: unknown): boolean => error instanceof Error && error.name === 'JournalError';
