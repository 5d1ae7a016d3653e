/** Reports presence, location, plan line and queue of this machine's seats to their servers. */
import { isDeepStrictEqual } from 'node:util';
import { withoutInvisible } from '../../contract/one-line.ts';
import type { AgentLine, AgentWork, DeliveryMode } from '../../contract/types.ts';
import type { DaemonClock } from '../clock.ts';
import type { Log } from '../log.ts';
import { isFinal, type NeedsPerson, type SeatIdentity, type SeatRef, type SessionView, seatKey } from '../refs.ts';
import type { Connection } from '../server-link/connection.ts';
import { type Presence, SeatFailure, type ServerEvents } from '../server-link/link.ts';
import { LatestWriter } from './latest.ts';
import { type QueuedMessage, QueueReport, type QueueReportOptions } from './queue.ts';

/** Delay before `idle` is reported, so that a turn which continues at once causes no report. */
const IDLE_DELAY_MS = 500;
const PRESENCE_GAP_MS = 1_000;
const PRESENCE_RENEW_MS = 60_000;
const LOCATION_GAP_MS = 60_000;
const LINE_GAP_MS = 10_000;
/** A plan that waited for so long may be older than the line that stands. */
const PLAN_WAITED_MS = 1_000;
/** Servers clear the line of an agent whose presence they have not heard of for so long. */
const LINE_LASTS_MS = 180_000;

/** What is said to one server. */
export type ReportedTo = Pick<Connection, 'presence' | 'location' | 'line' | 'standingLine'> &
  ReturnType<QueueReportOptions['at']>;

interface ReportsOptions {
  servers: { at(origin: string): ReportedTo };
  clock: DaemonClock;
  log: Log;
  journal: QueueReportOptions['journal'];
}

interface PresenceReport {
  presence: Presence;
  waiting: NeedsPerson | null;
  /** The mode that this daemon applies. */
  mode: DeliveryMode | undefined;
}

interface LocationReport {
  harness: string;
  session_id: string;
  folder: string;
  /** A new boot is reported even if the location is the same. */
  boot: string;
}

interface Plan {
  text: string;
  madeMs: number;
  /** The time of the line that stood when it was made, as far as it is known. */
  over: string | undefined | Promise<string | undefined>;
}

/** The reports of one seat, whichever session holds it. */
type SeatReports = ReturnType<typeof seatReports>;

/** Receives every change of a session and reports what differs from the last report. */
export class Reports {
  readonly #options: ReportsOptions;
  readonly #seats = new Map<string, SeatReports>();
  /** The seats' work according to their servers, to decide which of several seats a plan is about. */
  readonly #work = new Map<string, AgentWork>();

  constructor(options: ReportsOptions) {
    this.#options = options;
  }

  /** Subscribes to events of servers. */
  listen(servers: ServerEvents): void {
    servers.on('inbox', (seat, { inbox }) => this.#work.set(seatKey(seat), inbox.work));
    servers.on('token', (seat) => {
      // Another machine may have reported its place meanwhile.
      const reports = this.#seats.get(seatKey(seat));
      if (reports?.current !== 'no_session') reports?.location.renew();
    });
  }

  session(view: SessionView): void {
    for (const seat of view.seats) this.#reportPresence(seat, presenceOf(view), seat.mode, view.needsPerson);
    if (!view.open || view.cwd === undefined) return;
    const location: LocationReport = {
      harness: view.harness,
      session_id: view.session,
      folder: view.cwd,
      boot: view.boot,
    };
    if (!fitsLocation(location)) return;
    for (const seat of view.seats) this.#of(seat).location.set(location);
  }

  /** Reports that no session holds the seat any more. */
  released(seat: SeatRef): void {
    this.#reportPresence(seat, 'no_session');
    this.#seats.get(seatKey(seat))?.queue.clear();
  }

  /** Reports the unacknowledged messages in the queue of the session's program; always the complete list. */
  queued({ key: session, boot, seats }: SessionView, messages: readonly (SeatRef & QueuedMessage)[]): void {
    for (const seat of seats) {
      const own = messages.filter((message) => seatKey(message) === seatKey(seat));
      if (own.length > 0 || this.#seats.has(seatKey(seat))) this.#of(seat).queue.set({ session, boot }, own);
    }
  }

  plan(view: SessionView, { text }: { text: string }): void {
    const line = asLine(text);
    const seat = this.#seatOfPlan(view.seats);
    if (line !== '' && seat) this.#of(seat).plan(line);
  }

  async close(): Promise<void> {
    for (const { presence, location, line, queue } of this.#seats.values())
      for (const each of [presence, location, line, queue]) each.stop();
  }

  #reportPresence(seat: SeatRef, presence: Presence, mode?: DeliveryMode, needs: NeedsPerson | null = null): void {
    const reports = this.#of(seat);
    const changed = presence !== reports.current;
    reports.current = presence;
    // A plan that still waits would show the agent at work again.
    if (presence === 'no_session') reports.line.forget();
    const waiting = presence === 'waiting' ? needs : null;
    reports.presence.set({ presence, mode, waiting }, changed && presence === 'idle' ? IDLE_DELAY_MS : 0);
  }

  #of(ref: SeatRef): SeatReports {
    const key = seatKey(ref);
    const known = this.#seats.get(key);
    if (known) return known;
    const reports = seatReports(this.#options, ref, this.#work);
    this.#seats.set(key, reports);
    return reports;
  }

  /** The seat whose line shows the plan: the only one, or the one whose line changed last among those with a task. */
  #seatOfPlan(seats: readonly SeatIdentity[]): SeatIdentity | undefined {
    if (seats.length === 1) return seats[0];
    const on = seats.flatMap((seat) => {
      const work = this.#work.get(seatKey(seat));
      return work?.current_task ? [{ seat, at: work.line?.at ?? '' }] : [];
    });
    return on.sort((a, b) => (a.at < b.at ? 1 : -1))[0]?.seat;
  }
}

function seatReports(
  { clock, journal, log, servers }: ReportsOptions,
  { origin, member_id }: SeatRef,
  works: Map<string, AgentWork>,
) {
  const seat = { origin, member_id };
  const at = () => servers.at(origin);
  const logFailure = (what: string) => (error: unknown) => {
    const code = error instanceof SeatFailure ? error.code : 'internal';
    log.write('presence_failed', { seats: [member_id], what, code }, 'warn');
  };
  /** A write that failed temporarily is repeated. */
  const retryMs = (ms: number, error: unknown) => (error instanceof SeatFailure && error.temporary ? ms : 0);
  const state = { current: null as Presence | null };
  const key = seatKey(seat);
  const keepLine = (stands: AgentLine | null): AgentLine | null => {
    const work = works.get(key);
    if (work) works.set(key, { ...work, line: stands });
    return stands;
  };
  const readLine = async () => keepLine(await at().standingLine(seat));
  /** Whether the agent was given another line after the plan, or none, or its session ended. */
  const isOutdated = async ({ madeMs, over }: Plan): Promise<boolean> => {
    const waitedMs = clock.now() - madeMs;
    if (waitedMs < PLAN_WAITED_MS) return false;
    const stands = await readLine();
    if (state.current === 'no_session') return true;
    // The server may have cleared it by itself.
    if (!stands && waitedMs >= LINE_LASTS_MS) return false;
    return stands?.source !== 'plan' && stands?.at !== (await over);
  };
  const line: LatestWriter<Plan> = new LatestWriter({
    clock,
    gapMs: LINE_GAP_MS,
    renewMs: (_, error) => retryMs(LINE_GAP_MS, error),
    same: (a, b) => a.text === b.text,
    write: async (plan) => {
      if (await isOutdated(plan)) return line.lost();
      keepLine(await at().line(seat, plan.text));
    },
    onError: logFailure('line'),
  });
  /** Sends the plan, or notes which line stands if it has to wait. */
  const plan = (text: string): void => {
    const known = works.get(key)?.line?.at;
    const made: Plan = { text, madeMs: clock.now(), over: known };
    line.set(made);
    // The inbox is not read again when a line changes.
    if (line.isWaiting)
      made.over = readLine().then(
        (stands) => stands?.at,
        () => known,
      );
  };
  // By the wall clock: the monotonic one stands still while the machine sleeps.
  let heardMs = clock.now();
  return Object.assign(state, {
    presence: new LatestWriter<PresenceReport>({
      clock,
      gapMs: PRESENCE_GAP_MS,
      // A permanently failed seat is reported again only after a change.
      renewMs: ({ presence }, error) =>
        presence === 'no_session' || (error instanceof SeatFailure && isFinal(error.problem)) ? 0 : PRESENCE_RENEW_MS,
      same: isDeepStrictEqual,
      write: async ({ presence, mode, waiting }) => {
        const sentMs = clock.now();
        if (sentMs - heardMs >= LINE_LASTS_MS) line.lost();
        await at().presence(seat, presence, mode, waiting ?? undefined);
        heardMs = sentMs;
      },
      onError: (error) => {
        logFailure('presence')(error);
        line.lost();
      },
    }),
    location: new LatestWriter<LocationReport>({
      clock,
      gapMs: LOCATION_GAP_MS,
      renewMs: (_, error) => retryMs(LOCATION_GAP_MS, error),
      same: (a, b) => a.folder === b.folder && a.session_id === b.session_id && a.boot === b.boot,
      write: ({ harness, session_id, folder }) => at().location(seat, { harness, session_id, folder }),
      onError: logFailure('location'),
    }),
    line,
    plan,
    queue: new QueueReport({ seat, at, journal, clock, onError: logFailure('queue') }),
  });
}

function presenceOf({ open, needsPerson, turn }: SessionView): Presence {
  if (!open) return 'no_session';
  if (needsPerson) return 'waiting';
  return turn === 'busy' ? 'working' : 'idle';
}

const fitsLocation = ({ harness, session_id, folder }: LocationReport): boolean =>
  [...harness].length <= 40 && [...session_id].length <= 512 && folder !== '' && [...folder].length <= 4_096;

/** One line without control and invisible characters, at most 120 long. A cut emoji leaves a joiner, so trims again. */
const asLine = (text: string): string => {
  const beginning = [...text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()].slice(0, 120).join('');
  return withoutInvisible(beginning).trim();
};
