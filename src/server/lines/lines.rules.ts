/** How long a line is valid. */
import { DAY, HOUR, WEEK } from '../../contract/durations.ts';
import { endOf, leftAt, type Reported } from '../seats/presence.rules.ts';

/** With nobody there a line about work goes this long after it was set. */
const WORKING_KEPT_MS = 12 * HOUR;
/** A pause that nobody came back from goes this long after its end. */
const PAUSE_KEPT_MS = WEEK;
/** How far ahead a pause may end. */
export const AHEAD_MS = 30 * DAY;

/** What of a line decides how long it is valid; milliseconds since the epoch. */
export type Span = {
  kind: 'working' | 'paused';
  /** Only of a pause. */
  until: number | null;
  at: number;
};

export type LineRow = Span & {
  member_id: string;
  text: string;
  task_id: string | null;
  /** Name of the agent or of its person. */
  set_by: string;
  source: 'command' | 'task' | 'plan';
  /** The repository that the paths are in; null where there is none. */
  repo: string | null;
  /** JSON of the globs; null: it names no files. */
  paths: string | null;
};

/** Whether a line has ended: its agent has left since, or no session has come back for long. */
export function hasLapsed({ kind, until, at }: Span, report: Reported | undefined, now: number): boolean {
  if (kind === 'paused') return now >= (until ?? at) + PAUSE_KEPT_MS;
  const left = report ? leftAt(report) : null;
  if (report && left !== null && left <= now && (endOf(report) ?? 0) > at) return true;
  const present = left !== null && left > now;
  return !present && now >= at + WORKING_KEPT_MS;
}

/** When a line next changes or lapses by itself, apart from the end of a presence; null: never. */
export function turnsAt({ kind, until, at }: Span, now: number): number | null {
  const turns = kind === 'paused' ? [until ?? at, (until ?? at) + PAUSE_KEPT_MS] : [at + WORKING_KEPT_MS];
  return turns.find((turn) => turn > now) ?? null;
}

/** The globs of a line, as they are stored. */
export const globsIn = (paths: string): string[] => JSON.parse(paths) as string[];
