/** The answer to `status`: sessions, servers, and handoffs that need attention. No text of a message, no secret. */
import type { Build } from '../local/build.ts';
import { PROTOCOL } from './control/limits.ts';
import type { HandoffRow } from './journal/rows.ts';
import type { StatusAnswer } from './protocol.ts';
import type { Context } from './verbs/context.ts';

type StatusDeps = Pick<Context, 'clock' | 'journal' | 'metrics' | 'seats' | 'servers' | 'sessions'>;

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
  return {
    pid,
    build,
    protocol: PROTOCOL,
    started_at: startedAt,
    instance,
    open_sessions: deps.sessions.open().length,
    servers: views.map(({ reconnects: _, ...view }) => view),
    sessions: deps.sessions.all().map(({ key, row, turn, capabilities, seats }) => ({
      key,
      open: row.open,
      turn,
      turned: row.turned,
      boot: row.boot,
      capabilities: [...capabilities],
      seats: [...seats].map((seat) => seat.ref),
    })),
    attention: deps.journal.handoffsIn(['attention']).flatMap((row) => perSeat(deps, row)),
    stalled: waiting.filter((row) => row.stalled_at !== null).flatMap((row) => perSeat(deps, row)),
    truncated: truncated(deps),
    agents: deps.seats
      .bound()
      .filter(({ row }) => row.problem !== null)
      .map(({ ref, row }) => ({ agent: ref, problem: row.problem, since: iso(row.problem_at) })),
    bindings: deps.seats.bound().map(({ ref, session }) => ({
      agent: ref,
      session: session!.key,
      open: session!.row.open,
      turned: session!.row.turned,
    })),
    metrics: {
      ...deps.metrics.values(),
      reconnects: views.reduce((sum, { reconnects }) => sum + reconnects, 0),
      journal_bytes: deps.journal.bytes(),
    },
  };
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
