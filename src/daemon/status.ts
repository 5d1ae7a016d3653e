/** The answer to `status`: sessions, servers, and handoffs that need attention. No text of a message, no secret. */
import type { Build } from '../local/build.ts';
import { PROTOCOL } from './control/limits.ts';
import type { HandoffRow } from './journal/rows.ts';
import type { StatusAnswer } from './protocol.ts';
import type { Context } from './verbs/context.ts';

type StatusDeps = Pick<Context, 'clock' | 'journal' | 'metrics' | 'seats' | 'servers' | 'sessions'>;

const KIB = 1_024;

export interface ProcessInfo {
  pid: number;
  build: Build;
  startedAt: string;
  /** A random id of this run. */
  instance: string;
}

export function buildStatus(deps: StatusDeps, { pid, build, startedAt, instance }: ProcessInfo): StatusAnswer {
  const views = deps.servers.views();
  const waiting = deps.journal.handoffsIn(['handed']);
  const bound = deps.seats.bound();
  return {
    pid,
    build,
    protocol: PROTOCOL,
    started_at: startedAt,
    instance,
    open_sessions: deps.sessions.open().length,
    servers: views.map(({ reconnects: _, ...view }) => view),
    sessions: newest(
      deps.sessions.all().map(({ key, row, turn, capabilities, seats }) => ({
        key,
        open: row.open,
        turn,
        turned: row.turned,
        boot: row.boot,
        ...(row.started_in === null ? {} : { folder: row.started_in }),
        capabilities: [...capabilities],
        seats: [...seats].map((seat) => seat.ref),
      })),
      96 * KIB,
      ({ open }) => open,
    ),
    attention: newest(
      deps.journal.handoffsIn(['attention']).flatMap((row) => perSeat(deps, row)),
      16 * KIB,
    ),
    stalled: newest(
      waiting.filter((row) => row.stalled_at !== null).flatMap((row) => perSeat(deps, row)),
      16 * KIB,
    ),
    truncated: newest(truncated(deps), 16 * KIB),
    agents: newest(
      bound
        .filter(({ row }) => row.problem !== null)
        .map(({ ref, row }) => ({ agent: ref, problem: row.problem, since: iso(row.problem_at) })),
      32 * KIB,
    ),
    bindings: newest(
      bound.map(({ ref, session }) => ({
        agent: ref,
        session: session!.key,
        open: session!.row.open,
        turned: session!.row.turned,
      })),
      64 * KIB,
      ({ open }) => open,
    ),
    metrics: {
      ...deps.metrics.values(),
      reconnects: views.reduce((sum, { reconnects }) => sum + reconnects, 0),
      journal_bytes: deps.journal.bytes(),
    },
  };
}

/** The newest entries that fit into so many bytes, because the answer is one frame; open sessions before closed ones. */
function newest<T>(entries: T[], bytes: number, isOpen: (entry: T) => boolean = () => true): T[] {
  const kept = new Set<T>();
  let left = bytes;
  for (const entry of entries.toSorted((a, b) => Number(isOpen(a)) - Number(isOpen(b))).reverse()) {
    left -= Buffer.byteLength(JSON.stringify(entry)) + 1;
    if (left < 0) break;
    kept.add(entry);
  }
  return entries.filter((entry) => kept.has(entry));
}

function perSeat(deps: StatusDeps, row: HandoffRow) {
  const manifest = deps.journal.manifest(row.id);
  return (manifest?.parts ?? []).flatMap((part) => {
    const seat = deps.seats.of(part);
    if (!seat) return [];
    const own = manifest!.messages.filter((one) => one.origin === part.origin && one.member_id === part.member_id);
    return [{ handoff_id: row.id, agent: seat.ref, seqs: own.map(({ seq }) => seq), reason: row.reason ?? '' }];
  });
}

const TRUNCATED_WINDOW_MS = 86_400_000;

function truncated(deps: StatusDeps) {
  return deps.journal.truncatedSince(deps.clock.now() - TRUNCATED_WINDOW_MS).flatMap(({ handoff_id, seq, ...ref }) => {
    const seat = deps.seats.of(ref);
    return seat ? [{ handoff_id, agent: seat.ref, seq }] : [];
  });
}

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
