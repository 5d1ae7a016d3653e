/** What a seat's last report of its presence means now. */

/** A presence that was not repeated for this long, in milliseconds, has run out: since its last report nobody is there. */
export const PRESENCE_MS = 180_000;

export type Presence = 'working' | 'idle' | 'waiting' | 'no_session';

/** What was reported last, in milliseconds since the epoch. */
export interface Reported {
  presence: Presence | null;
  presence_since: number | null;
  /** Every presence but `no_session` has to be repeated. */
  reported_at: number | null;
  /** Until when somebody counts as there who could not report in an outage; null: there was none since the last report. */
  kept_until: number | null;
}

interface PresenceNow {
  presence: Presence;
  /** Milliseconds since the epoch; null: no session ever reported. */
  since: number | null;
}

/** The one word for what an agent is doing. */
type AgentState = 'waiting' | 'paused' | 'late' | 'braked' | 'disconnected' | 'working' | 'idle';

/** @param line what the agent says it is on, if that has not ended. */
export function stateWord(
  presence: Presence,
  line: { kind: 'working' | 'paused'; until: number | null } | null,
  now: number,
  braked = false,
): AgentState {
  if (presence === 'waiting') return 'waiting';
  if (line?.kind === 'paused') return now < (line.until ?? 0) ? 'paused' : 'late';
  if (braked) return 'braked';
  if (presence === 'no_session') return 'disconnected';
  return line ? 'working' : presence;
}

/**
 * When somebody who was there has left, or will have unless the presence is repeated; null: nobody ever was. What is decided by
 * it is not taken back, so it comes later than the end of a presence that could not be repeated.
 */
export function leftAt(report: Reported): number | null {
  const end = endOf(report);
  return end === null ? null : Math.max(end, report.kept_until ?? 0);
}

/** The same without what it is kept for after an outage: a line that was set later was set with nobody there. */
export const endOf = (report: Reported): number | null =>
  report.presence === 'no_session' ? report.presence_since : runsOutAt(report);

/** When a presence runs out unless it is repeated; null: it cannot. */
export const runsOutAt = ({ presence, reported_at }: Reported): number | null =>
  presence === null || presence === 'no_session' || reported_at === null ? null : reported_at + PRESENCE_MS;

/** A presence that was not repeated in time has run out: since its last report nobody is there. */
export function presenceAt(report: Reported | undefined, now: number): PresenceNow {
  if (!report?.presence) return { presence: 'no_session', since: null };
  const { presence, presence_since, reported_at } = report;
  if (presence === 'no_session' || reported_at === null) return { presence: 'no_session', since: presence_since };
  return now - reported_at >= PRESENCE_MS
    ? { presence: 'no_session', since: reported_at }
    : { presence, since: presence_since };
}
