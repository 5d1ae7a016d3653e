/** Handing through a program's own queue: tried a few times, then left until the session or seat changes. */
import type { Core } from '../core.ts';
import { JournalError } from '../journal/types.ts';
import type { Flight, Session } from '../sessions/session.ts';
import type { Carry } from '../types.ts';
import { accepted, backToPending, confirm } from './flight.ts';

const ATTEMPTS = 5;
const MOST_MS = 60_000;
/** Until a locked or busy program is asked again; that is no failed attempt. */
const LATER_MS = 5_000;

/** Gives the text to the program and notes what came of it. */
export async function queue(core: Core, session: Session, flight: Flight, carry: Carry): Promise<void> {
  const adapter = core.adapters.of(session.row.harness);
  const text = [carry.nudge, carry.bundle, carry.notice].filter(Boolean).join('\n');
  const outcome = await adapter.hand(session.view, text, flight.id).catch(() => ({ retry: 'failed' }));
  if (session.flight !== flight) return;
  if (outcome === 'accepted' || outcome === 'accepted_confirmed') {
    try {
      accepted(core, session, flight);
      if (outcome === 'accepted_confirmed') confirm(core, session, flight);
    } catch (error) {
      // The program has it, but nobody could write that down: it comes once more, and not before a while.
      core.log.write(error instanceof JournalError ? 'journal_error' : 'hook_error', { handoff: flight.id }, 'error');
      pause(core, session, LATER_MS);
      backToPending(core, session, flight, 'not_noted');
    }
    return;
  }
  if ('later' in outcome) {
    pause(core, session, LATER_MS);
    backToPending(core, session, flight, outcome.later.slice(0, 200));
    return;
  }
  // Its program may know better than its queue why there is nobody to take it.
  const target = await adapter.check(session.view).catch(() => 'ok' as const);
  if (session.flight !== flight) return;
  const known = typeof target === 'object' && target.code !== 'harness_unavailable' ? target.code : null;
  attemptFailed(core, session, flight, target === 'unstarted' ? 'harness_target_absent' : (known ?? outcome.retry));
}

/** Until a runner is given again what its program could not take just then. */
const NOT_NOW_MS = 60_000;

/** The program is busy otherwise, which counts as no attempt. @param agentsMs how long only for what agents write */
export function notNow(core: Core, session: Session, flight: Flight, agentsMs?: number): void {
  if (agentsMs === undefined) pause(core, session, NOT_NOW_MS);
  else session.agentsNotBeforeUs = core.clock.nowUs() + agentsMs * 1000;
  backToPending(core, session, flight, 'not_now');
}

/** Counts an attempt that failed; the fifth is the last until something changes. */
export function attemptFailed(core: Core, session: Session, flight: Flight, reason: string): void {
  const attempts = flight.attempts + 1;
  const why = reason.slice(0, 200);
  if (attempts >= ATTEMPTS) {
    core.metrics.count('attention');
    backToPending(core, session, flight, why, { state: 'attention', attempts });
    return;
  }
  const ms = Math.min(MOST_MS, 1000 * 2 ** (attempts - 1)) * (0.75 + Math.random() / 2);
  pause(core, session, ms);
  backToPending(core, session, flight, why, { state: 'retry', attempts, next_at: core.clock.now() + Math.round(ms) });
}

function pause(core: Core, session: Session, ms: number): void {
  session.notBeforeUs = core.clock.nowUs() + Math.round(ms * 1000);
}

/** What needed attention is tried again: its session registered anew, or a seat of it changed. */
export function tryAgain(core: Core, session: Session): void {
  for (const { id } of core.journal.handoffsIn(['attention'], session.key))
    core.journal.updateHandoff(id, { state: 'pending', attempts: 0, reason: null, next_at: null });
}
