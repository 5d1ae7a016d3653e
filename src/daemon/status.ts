/** What the daemon says of itself: sessions, servers, and what did not go as it should. No text of a message, no secret. */
import type { Build } from '../local/build.ts';
import type { StatusAnswer } from './control/answers.ts';
import { PROTOCOL } from './control/limits.ts';
import type { Core } from './core.ts';
import type { HandoffRow } from './journal/types.ts';
import type { AgentRef } from './types.ts';

export interface Running {
  pid: number;
  build: Build;
  startedAt: string;
  /** Made anew by each start. */
  instance: string;
}

export function statusOf(core: Core, { pid, build, startedAt, instance }: Running): StatusAnswer {
  const views = core.origins.views();
  const waiting = core.journal.handoffsIn(['handed']);
  return {
    pid,
    build,
    protocol: PROTOCOL,
    started_at: startedAt,
    instance,
    open_sessions: core.sessions.open().length,
    servers: views.map(({ reconnects: _, ...view }) => view),
    sessions: core.sessions.all().map(({ key, row, turn, capabilities, seats }) => ({
      key,
      open: row.open,
      turn,
      turned: row.turned,
      boot: row.boot,
      capabilities: [...capabilities],
      seats: [...seats].map((seat) => seat.ref),
    })),
    attention: core.journal.handoffsIn(['attention']).flatMap((row) => perSeat(core, row)),
    stalled: waiting.filter((row) => row.stalled_at !== null).flatMap((row) => perSeat(core, row)),
    truncated: truncated(core),
    agents: core.seats
      .bound()
      .filter(({ row }) => row.problem !== null)
      .map(({ ref, row }) => ({ agent: ref, problem: row.problem, since: iso(row.problem_at) })),
    bindings: core.seats.bound().map(({ ref, session }) => ({
      agent: ref,
      session: session!.key,
      open: session!.row.open,
      turned: session!.row.turned,
    })),
    metrics: {
      ...core.metrics.record(),
      reconnects: views.reduce((sum, { reconnects }) => sum + reconnects, 0),
      journal_bytes: core.journal.bytes(),
    },
  };
}

function perSeat(
  core: Core,
  row: HandoffRow,
): { handoff_id: string; agent: AgentRef; seqs: number[]; reason: string }[] {
  const manifest = core.journal.manifest(row.id);
  return (manifest?.parts ?? []).flatMap((part) => {
    const seat = core.seats.of(part);
    if (!seat) return [];
    const own = manifest!.messages.filter((one) => one.origin === part.origin && one.member_id === part.member_id);
    return [{ handoff_id: row.id, agent: seat.ref, seqs: own.map(({ seq }) => seq), reason: row.reason ?? '' }];
  });
}

const TRUNCATED_MS = 86_400_000;

/** Messages of the last day of which only the beginning was given. */
function truncated(core: Core): { handoff_id: string; agent: AgentRef; seq: number }[] {
  return core.journal.truncatedSince(core.clock.now() - TRUNCATED_MS).flatMap(({ handoff_id, seq, ...ref }) => {
    const seat = core.seats.of(ref);
    return seat ? [{ handoff_id, agent: seat.ref, seq }] : [];
  });
}

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
