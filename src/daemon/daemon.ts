/** Builds the daemon from its parts, starts it and stops it. */
import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { rmSync, statSync } from 'node:fs';
import { HOUR } from '../contract/durations.ts';
import type { Build } from '../local/build.ts';
import { writePrivate } from '../local/private-file.ts';
import { Claims } from './claims/claims.ts';
import { cancellableClock, type DaemonClock, every, retryingClock, withTimeout } from './clock.ts';
import type { Common } from './common.ts';
import { ControlRefusal } from './control/errors.ts';
import { ControlServer } from './control/server.ts';
import type { Faults } from './faults.ts';
import { reportQueue } from './handoff/queued.ts';
import { recover, resumeAcks } from './handoff/recover.ts';
import { wakeIfDue } from './handoff/wake.ts';
import { Acknowledger } from './inbox/acknowledge.ts';
import { follow, hasUnacknowledged, isFollowed } from './inbox/cursor.ts';
import { SeatUpdates } from './inbox/seat-updates.ts';
import { type Journal, JournalError, logIfJournalError, writeOrLog } from './journal/journal.ts';
import { type Log, originOf } from './log.ts';
import { Metrics } from './metrics.ts';
import type { DaemonPaths } from './paths.ts';
import type { PortDeps, Ports } from './ports.ts';
import type { ServerEvents } from './server-link/link.ts';
import { Doors } from './sessions/doors.ts';
import { awaitReconnects, closeGoneSessions, SCAN_INTERVAL_MS } from './sessions/liveness.ts';
import { SeatRegistry } from './sessions/seat-registry.ts';
import type { Session, SessionEvents } from './sessions/session.ts';
import { Sessions } from './sessions/sessions.ts';
import { buildStatus, type ProcessInfo } from './status.ts';
import { tellExtension } from './verbs/connections.ts';
import type { Context } from './verbs/context.ts';
import { answerFrame, type DaemonVerbs } from './verbs/verbs.ts';

const STOP_GRACE_MS = 5_000;
/** How long the end of connections may take after that: what the daemon saves needs none of them. */
const CLOSE_MS = 2_000;
const IDLE_STOP_MS = 600_000;
/** Delay before a failed journal write is repeated. */
const JOURNAL_RETRY_MS = 2_000;

export interface DaemonOptions {
  paths: DaemonPaths;
  clock: DaemonClock;
  journal: Journal;
  log: Log;
  faults: Faults;
  build: Build;
  /** Creates the parts that reach servers and agent programs. */
  ports(deps: PortDeps): Ports;
}

export class Daemon {
  /** Resolves when it has stopped. */
  readonly stopped: Promise<void>;
  readonly #options: DaemonOptions;
  readonly #ports: Ports;
  readonly #context: Context;
  readonly #stopping = new AbortController();
  readonly #running: ProcessInfo;
  readonly #endTimers: () => void;
  readonly #cancels: (() => void)[] = [];
  #control: ControlServer | null = null;
  #resolveStopped!: () => void;
  /** It stops so that a newer daemon can take over. */
  #replaced = false;
  #busyAtUs: number;

  private constructor(options: DaemonOptions) {
    const { paths, journal, log, faults, build } = options;
    // A full disk must not stop the daemon: timers that could not write the journal run again.
    const retrying = retryingClock(options.clock, JOURNAL_RETRY_MS, (error) => logIfJournalError(log, error));
    const { clock, end } = cancellableClock(retrying);
    this.#endTimers = end;
    this.#options = options;
    this.#running = {
      pid: process.pid,
      build,
      startedAt: new Date(clock.now()).toISOString(),
      instance: randomBytes(8).toString('hex'),
    };
    this.stopped = new Promise((resolve) => {
      this.#resolveStopped = resolve;
    });
    this.#busyAtUs = clock.nowUs();
    const events: SessionEvents = new EventEmitter();
    const serverEvents: ServerEvents = new EventEmitter();
    const { signal: stopping } = this.#stopping;
    const seats = new SeatRegistry(journal);
    const common: Common = { clock, journal, log, faults, metrics: new Metrics(), seats, events };
    const sessions = new Sessions(common);
    const ports = options.ports({ ...common, sessions, serverEvents });
    const { servers, adapters, reports } = ports;
    const acks = new Acknowledger({ ...common, servers, stopping });
    const updates = new SeatUpdates({ ...common, servers, acks });
    const claims = new Claims({ clock, log, servers });
    this.#ports = ports;
    const parts = { sessions, acks, updates, claims, doors: new Doors() };
    this.#context = { ...common, ...ports, ...parts, paths, stopping };
    updates.listen(serverEvents);
    claims.listen(serverEvents);
    events.on('changed', (session) => {
      reports.session(session.view);
      reportQueue({ adapters, journal, reports }, session);
      for (const seat of session.seats) follow(this.#context, seat);
    });
    events.on('unseated', (session) => tellExtension(this.#context, session));
    events.on('released', (seat) => reports.released(seat));
    events.on('deliverable', (session) => this.#wakeIfDue(session));
  }

  /** Recovers, listens, then connects; ready once the socket answers. The caller must hold the daemon's lock. */
  static async start(options: DaemonOptions): Promise<Daemon> {
    const daemon = new Daemon(options);
    const context = daemon.#context;
    const { seats, sessions, servers, acks, events, log } = context;
    await closeGoneSessions(context);
    recover(context, sessions);
    daemon.#control = await ControlServer.listen({
      paths: options.paths,
      clock: options.clock,
      request: (frame, peer) => {
        daemon.#busyAtUs = options.clock.nowUs();
        if (context.stopping.aborted && frame.op !== 'status') throw stoppingRefusal(daemon.#replaced);
        return answerFrame(context, daemon.#daemonVerbs(), frame, peer);
      },
      onError: (op, error) =>
        log.write(error instanceof JournalError ? 'journal_error' : 'hook_error', { op }, 'error'),
    });
    daemon.#writeInfo();
    // The first read of each seat brings what arrived while no daemon was running, and ends a problem that is solved.
    for (const seat of seats.all()) {
      const { row, identity } = seat;
      // Its token was deleted, so nothing can be asked until it is bound again.
      if (row.problem === 'agent_removed') continue;
      if (isFollowed(context, seat)) servers.at(row.origin).watch(identity, row.problem);
      // Its board is asked for again by the next session that has it.
      else if (row.problem === 'board_gone')
        writeOrLog(context, () => seats.save(seat, { problem: null, problem_at: null }));
    }
    resumeAcks(context, acks);
    context.pairing.resume();
    awaitReconnects(context);
    daemon.#cancels.push(
      every(options.clock, SCAN_INTERVAL_MS, () => daemon.#checkSessions()),
      every(options.clock, HOUR, () => daemon.#cleanUp()),
    );
    for (const session of sessions.open()) events.emit('changed', session);
    // It may end before an hour is over, each time.
    daemon.#cleanUp();
    log.write('daemon_started', { pid: process.pid, version: options.build.version });
    return daemon;
  }

  /** Gives work in progress a few seconds, then closes. @param restart whether waiting hooks should reconnect */
  async stop(restart: boolean): Promise<void> {
    const { clock, log, acks, journal } = this.#context;
    if (this.#stopping.signal.aborted) return this.stopped;
    this.#stopping.abort();
    this.#replaced = restart;
    log.write('daemon_stopping', { restart });
    for (const cancel of this.#cancels.splice(0)) cancel();
    this.#control?.stop(restart);
    const endUs = clock.nowUs() + STOP_GRACE_MS * 1000;
    while (clock.nowUs() < endUs && (acks.running || this.#awaitsCarrier())) await sleep(clock, 25);
    this.#endTimers();
    await withTimeout(this.#options.clock, CLOSE_MS, this.#disconnect(), () => {});
    const { delegatedBoards, pairing } = this.#ports;
    delegatedBoards.close();
    pairing.endpoints.close();
    journal.close();
    rmSync(this.#options.paths.info, { force: true });
    this.#resolveStopped();
  }

  async #disconnect(): Promise<void> {
    const { servers, reports } = this.#ports;
    // Handoffs that no carrier confirmed become pending again as its connection closes.
    await this.#control?.closeAll();
    await Promise.allSettled([servers.close(), reports.close()]);
  }

  /** Whether it goes on after an error that nothing caught, which it notes. */
  outlives(error: unknown): boolean {
    const { log, metrics } = this.#context;
    log.write('hook_error', originOf(error), 'error');
    metrics.count('uncaught_errors');
    // It concerns one thing; ending here, the seats of all sessions would be without delivery. A stop might never come to its end.
    return !this.#stopping.signal.aborted;
  }

  #daemonVerbs(): DaemonVerbs {
    return {
      status: () => buildStatus(this.#context, this.#running),
      shutdown: (_context, frame, peer) => {
        peer.send({});
        void this.stop(frame.restart);
      },
    };
  }

  /** Whether a hook was sent a text that it has not confirmed yet. An extension works on it first, and confirms it to the next daemon. */
  #awaitsCarrier(): boolean {
    const awaits = ({ flight }: Session) => flight?.acceptedUs === null && flight.path !== 'extension';
    return this.#context.sessions.all().some(awaits);
  }

  #wakeIfDue(session: Session): void {
    const { clock, log } = this.#context;
    try {
      wakeIfDue(this.#context, session);
    } catch (error) {
      if (!logIfJournalError(log, error)) throw error;
      clock.after(JOURNAL_RETRY_MS, () => wakeIfDue(this.#context, session));
    }
  }

  async #checkSessions(): Promise<void> {
    const { clock, log, paths, sessions } = this.#context;
    // What cleans /tmp may have deleted it. While this daemon holds the lock, no other one can listen.
    if (isDeleted(paths.socket)) return this.stop(true);
    try {
      await closeGoneSessions(this.#context);
      const busy = sessions.open().length > 0 || (this.#control?.connections ?? 0) > 0 || this.#hasUnacknowledged();
      const now = clock.nowUs();
      if (busy) this.#busyAtUs = now;
      else if (now - this.#busyAtUs >= IDLE_STOP_MS * 1000) void this.stop(false);
    } catch (error) {
      if (!logIfJournalError(log, error)) throw error;
    }
  }

  /** Ignores a full or broken disk: cleanup is retried later. */
  #cleanUp(): void {
    const { clock, journal, sessions } = this.#context;
    writeOrLog(this.#context, () => {
      journal.prune(clock.now());
      sessions.prune();
    });
  }

  #hasUnacknowledged(): boolean {
    return this.#context.seats
      .all()
      .some((seat) => seat.row.problem === null && hasUnacknowledged(this.#context, seat));
  }

  #writeInfo(): void {
    const { paths } = this.#options;
    const { pid, build, startedAt } = this.#running;
    const info = { pid, protocol: 1, build, started_at: startedAt, socket: paths.socket };
    writePrivate(paths.info, `${JSON.stringify(info)}\n`);
  }
}

/** Whether a file is gone; not if its folder just cannot be looked into, as on a disk that does not answer. */
function isDeleted(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

const sleep = (clock: DaemonClock, ms: number): Promise<void> => new Promise((resolve) => clock.after(ms, resolve));

const stoppingRefusal = (restart: boolean): ControlRefusal =>
  new ControlRefusal('daemon_stopping', 'The delivery daemon is stopping.', {
    hint: 'Run the command again',
    details: restart ? { restart } : undefined,
  });
