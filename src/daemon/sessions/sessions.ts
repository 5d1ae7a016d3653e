/** All sessions: registering, reopening and closing them. */
import { randomBytes } from 'node:crypto';
import { isGone } from '../../local/process-ref.ts';
import type { Common } from '../common.ts';
import { ControlRefusal } from '../control/errors.ts';
import { backToPending } from '../handoff/flight.ts';
import { writeOrLog } from '../journal/journal.ts';
import type { SessionRow } from '../journal/rows.ts';
import type { Header, Source } from '../protocol.ts';
import type { SessionView } from '../refs.ts';
import { Session } from './session.ts';

const MAX_SESSIONS = 200;

export class Sessions {
  readonly #deps: Common;
  readonly #byKey = new Map<string, Session>();

  /** Loads sessions and bindings from the journal. No turn counts as running until a hook reports one. */
  constructor(deps: Common) {
    this.#deps = deps;
    for (const row of deps.journal.sessions()) {
      const session = new Session(row, row.turned ? 'idle' : 'unknown');
      session.unheard = true;
      this.#byKey.set(row.key, session);
    }
    for (const { session_key, told_mode, bound_at, ...ref } of deps.journal.bindings()) {
      const seat = deps.seats.of(ref);
      const session = this.get(session_key);
      if (!seat || !session) continue;
      seat.session = session;
      seat.announcedMode = told_mode;
      seat.boundAt = bound_at;
      session.seats.add(seat);
    }
  }

  get(key: string): Session | null {
    return this.#byKey.get(key) ?? null;
  }

  all(): Session[] {
    return [...this.#byKey.values()];
  }

  open(): Session[] {
    return this.all().filter(({ row }) => row.open);
  }

  /** The session of a frame. @throws ControlRefusal `session_unknown` */
  require(header: Pick<Header, 'harness' | 'session'>): Session {
    const session = this.get(sessionKey(header));
    if (session) return session;
    throw unknownSession('The delivery daemon does not know this session.');
  }

  /** The open session of a frame; a command registers one that is not. @throws ControlRefusal `session_unknown` */
  requireOpen(header: Pick<Header, 'harness' | 'session'>): Session {
    const session = this.require(header);
    if (session.row.open) return session;
    throw unknownSession('The delivery daemon does not know that this session goes on.');
  }

  /** The view of a session that is about to register, to check it with its program first. */
  preview(header: Header): SessionView {
    const known = this.get(sessionKey(header));
    const row = { ...(known?.row ?? this.#row(header, 'startup')), ...locationOf(header) };
    return { ...new Session(row, known?.turn ?? 'unknown').view, seats: known?.view.seats ?? [] };
  }

  /** Opens a new or existing session. A new boot invalidates handoffs to the old one. */
  register(header: Header, source: Source): { session: Session; reopened: boolean; renewed: boolean } {
    const known = this.get(sessionKey(header));
    if (!known) return { session: this.#create(header, source), reopened: false, renewed: false };
    known.lastSeenUs = this.#deps.clock.nowUs();
    const reopened = !known.row.open;
    const renewed = this.#applyBoot(known, header);
    this.#save(known, {
      ...locationOf(header),
      started_in: known.row.started_in ?? startFolder(header),
      open: true,
      closed_at: null,
      source,
      ...(header.process ? { pid: header.process.pid, pid_start: header.process.start } : {}),
    });
    if (renewed || reopened) {
      known.turn = known.row.turned ? 'idle' : 'unknown';
      known.unheard = false;
    }
    known.cancelGrace();
    if (reopened || renewed) this.#deps.log.write('session_resumed', { session: known.key, source });
    this.#deps.events.emit('changed', known);
    return { session: known, reopened, renewed };
  }

  /**
   * The session of a turn event; reopens a closed session. Null for an event of an older boot or of another process with
   * the same session id.
   */
  forEvent(header: Header): Session | null {
    const session = this.require(header);
    if (header.subagent) return null;
    let { row } = session;
    const other = header.boot !== undefined && header.boot !== row.boot && !row.boot.startsWith('boot_');
    if (row.open && other) return null;
    if (row.open && isOtherProcess(row, header)) {
      // The registered process still runs, so the event is from another one with the same session id.
      if (!isGone({ pid: row.pid!, start: row.pid_start! })) return null;
      this.close(session, 'process_gone');
    }
    session.lastSeenUs = this.#deps.clock.nowUs();
    row = session.row;
    if (!row.open || header.boot !== undefined) {
      if (!row.open) return this.register(header, row.source).session;
      this.#applyBoot(session, header);
    }
    const addsProcess = row.pid === null && header.process;
    const place = locationOf(header);
    const moved = place.cwd !== undefined && place.cwd !== row.cwd;
    if (addsProcess || moved)
      this.#save(session, {
        ...place,
        ...(addsProcess ? { pid: header.process!.pid, pid_start: header.process!.start } : {}),
      });
    return session;
  }

  /** Records the start or end of a turn; an end also where the journal cannot be written. */
  recordTurn(session: Session, turn: 'idle' | 'busy', newTurn = false): void {
    session.turn = turn;
    session.unheard = false;
    session.needsPerson = null;
    const turn_id = session.row.turn_id + (newTurn ? 1 : 0);
    const save = () => this.#save(session, { turned: true, turn_id });
    if (newTurn) save();
    else if (!session.row.turned) writeOrLog(this.#deps, save);
    this.#deps.events.emit('changed', session);
  }

  /** Closes a session. Its bindings stay; unconfirmed handoffs are delivered again when it reopens. */
  close(session: Session, reason: string): void {
    if (!session.row.open) return;
    this.#save(session, { open: false, closed_at: this.#deps.clock.now() });
    this.#reset(session, 'session_closed');
    session.cancelTimer();
    session.cancelGrace();
    session.turn = session.row.turned ? 'idle' : 'unknown';
    session.needsPerson = null;
    this.#deps.log.write('session_closed', { session: session.key, reason });
    this.#deps.events.emit('changed', session);
  }

  /** Forgets closed sessions that the journal has deleted. */
  prune(): void {
    const saved = new Set(this.#deps.journal.sessions().map(({ key }) => key));
    for (const [key, { row }] of this.#byKey) if (!row.open && !saved.has(key)) this.#byKey.delete(key);
  }

  /** Disconnects a waiting hook or an extension from the session. */
  release(session: Session, which: 'waiting' | 'extension'): void {
    const peer = session[which]?.peer;
    session[which] = null;
    if (!peer) return;
    peer.sendEvent({ event: 'release' });
    peer.onFrame = null;
    peer.close();
  }

  #create(header: Header, source: Source): Session {
    if (this.open().length >= MAX_SESSIONS) this.#makeRoom();
    const row = this.#row(header, source);
    this.#deps.journal.saveSession(row);
    const session = new Session(row, 'unknown');
    session.readyUs = session.lastSeenUs = this.#deps.clock.nowUs();
    this.#byKey.set(row.key, session);
    this.#deps.log.write('session_started', { session: row.key, source });
    this.#deps.events.emit('changed', session);
    return session;
  }

  /**
   * Closes a session that may have ended unseen: of those without a known process that are not connected, the one that
   * nothing was heard of for longest. Its next event opens it again. @throws ControlRefusal if there is none
   */
  #makeRoom(): void {
    const [unseen] = this.open()
      .filter(({ row, waiting, extension }) => row.pid === null && !waiting && !extension)
      .sort((a, b) => a.lastSeenUs - b.lastSeenUs);
    if (!unseen)
      throw new ControlRefusal('invalid_request', `There are ${MAX_SESSIONS} open sessions already.`, {
        hint: 'End one that is not used',
      });
    this.close(unseen, 'process_unknown');
  }

  #row(header: Header, source: Source): SessionRow {
    return {
      key: sessionKey(header),
      harness: header.harness,
      session_id: header.session,
      boot: header.boot ?? `boot_${randomBytes(8).toString('hex')}`,
      source,
      open: true,
      pid: header.process?.pid ?? null,
      pid_start: header.process?.start ?? null,
      cwd: header.cwd ?? null,
      started_in: startFolder(header),
      config_dir: header.config_dir ?? null,
      harness_version: header.harness_version ?? null,
      turned: false,
      turn_id: 0,
      opened_at: this.#deps.clock.now(),
      closed_at: null,
    };
  }

  /** Applies the boot of a frame, which may replace a generated id. @returns whether it is another boot */
  #applyBoot(session: Session, header: Header): boolean {
    const { boot } = header;
    const old = session.row.boot;
    if (boot === undefined || boot === old) return false;
    const local = old.startsWith('boot_') && !isOtherProcess(session.row, header);
    if (!local) this.#reset(session, 'new_boot');
    else if (session.flight) {
      this.#deps.journal.updateHandoff(session.flight.id, { boot });
      session.flight.boot = boot;
    }
    this.#save(session, { boot });
    session.readyUs = this.#deps.clock.nowUs();
    return !local;
  }

  /** Cancels everything in progress for the session. */
  #reset(session: Session, reason: string): void {
    session.preparing = null;
    session.boundary = false;
    session.batching = false;
    session.continuations = 0;
    session.heldBack = new Set();
    session.activityUs = 0;
    session.lastTurnEvent = null;
    session.registeredUs.clear();
    if (session.flight) backToPending(this.#deps, session, session.flight, reason);
    this.release(session, 'waiting');
    this.release(session, 'extension');
  }

  #save(session: Session, change: Partial<SessionRow>): void {
    const row = { ...session.row, ...change };
    this.#deps.journal.saveSession(row);
    session.row = row;
  }
}

const unknownSession = (message: string): ControlRefusal =>
  new ControlRefusal('session_unknown', message, { hint: 'Run the command again' });

const sessionKey = ({ harness, session }: Pick<Header, 'harness' | 'session'>): string => `${harness}:${session}`;

export const isOtherProcess = ({ pid, pid_start }: SessionRow, { process }: Header): boolean =>
  process !== undefined && pid !== null && (pid !== process.pid || pid_start !== process.start);

/** Whether two sessions are known to be of one process. */
export const isSameProcess = (one: SessionRow, other: SessionRow): boolean =>
  one.pid !== null && one.pid === other.pid && one.pid_start === other.pid_start;

/** Only what a program sends at its session's start has a boot; the working folder may be another one later. */
const startFolder = ({ boot, cwd }: Header): string | null => (boot === undefined ? null : (cwd ?? null));

function locationOf({ cwd, config_dir, harness_version }: Header): Partial<SessionRow> {
  return {
    ...(cwd === undefined ? {} : { cwd }),
    ...(config_dir === undefined ? {} : { config_dir }),
    ...(harness_version === undefined ? {} : { harness_version }),
  };
}
