/** Delivery through a program's own queue: a few attempts, then none until the session or a seat changes. */
import type { Common } from '../common.ts';
import { MAX_ATTEMPTS } from '../control/limits.ts';
import { type Journal, JournalError } from '../journal/journal.ts';
import type { Carry } from '../protocol.ts';
import type { InFlightHandoff, Session } from '../sessions/session.ts';
import { backToPending, markAccepted } from './flight.ts';
import { confirm, type ReceiptDeps } from './receipt.ts';

const MAX_RETRY_MS = 60_000;
/** Delay before a locked or busy program is tried again. */
const BUSY_RETRY_MS = 5_000;

/** Adds the text to the program's queue and records the outcome. */
export async function handToQueue(
  deps: ReceiptDeps,
  session: Session,
  flight: InFlightHandoff,
  carry: Carry,
): Promise<void> {
  const adapter = deps.adapters.of(session.row.harness);
  const text = [carry.nudge, carry.bundle, carry.notice].filter(Boolean).join('\n');
  const outcome = await adapter.hand(session.view, text, flight.id).catch(() => ({ retry: 'failed' }));
  if (session.flight !== flight) return;
  if (outcome === 'accepted' || outcome === 'accepted_confirmed') {
    try {
      markAccepted(deps, session, flight);
      if (outcome === 'accepted_confirmed') confirm(deps, session, flight);
    } catch (error) {
      // The program has it, but the journal could not record that: it is delivered again after a pause.
      deps.log.write(error instanceof JournalError ? 'journal_error' : 'hook_error', { handoff: flight.id }, 'error');
      pause(deps, session, BUSY_RETRY_MS);
      backToPending(deps, session, flight, 'not_noted');
    }
    return;
  }
  if ('later' in outcome) {
    pause(deps, session, BUSY_RETRY_MS);
    backToPending(deps, session, flight, outcome.later.slice(0, 200));
    return;
  }
  // The program may give a more precise reason than its queue.
  const target = await adapter.check(session.view).catch(() => 'ok' as const);
  if (session.flight !== flight) return;
  const known = typeof target === 'object' && target.code !== 'harness_unavailable' ? target.code : null;
  attemptFailed(deps, session, flight, target === 'unstarted' ? 'harness_target_absent' : (known ?? outcome.retry));
}

/** Delay before a runner gets a handoff again that its program could not take. */
const POSTPONE_MS = 60_000;

/** Postpones a handoff because the program is busy; counts no attempt. @param agentsMs delays agents' messages only */
export function postpone(deps: Common, session: Session, flight: InFlightHandoff, agentsMs?: number): void {
  if (agentsMs === undefined) pause(deps, session, POSTPONE_MS);
  else session.agentsNotBeforeUs = deps.clock.nowUs() + agentsMs * 1000;
  backToPending(deps, session, flight, 'not_now');
}

/** Counts a failed attempt; after the fifth, retries stop until something changes. */
export function attemptFailed(deps: Common, session: Session, flight: InFlightHandoff, reason: string): void {
  const attempts = flight.attempts + 1;
  const why = reason.slice(0, 200);
  if (attempts >= MAX_ATTEMPTS) {
    deps.metrics.count('attention');
    backToPending(deps, session, flight, why, { state: 'attention', attempts });
    return;
  }
  const ms = Math.min(MAX_RETRY_MS, 1000 * 2 ** (attempts - 1)) * (0.75 + Math.random() / 2);
  pause(deps, session, ms);
  backToPending(deps, session, flight, why, { state: 'retry', attempts, next_at: deps.clock.now() + Math.round(ms) });
}

function pause({ clock }: Common, session: Session, ms: number): void {
  session.notBeforeUs = clock.nowUs() + Math.round(ms * 1000);
}

/** Retries handoffs that needed attention, after their session registered again or one of its seats changed. */
export function retryAttention(journal: Journal, session: Session): void {
  for (const { id } of journal.handoffsIn(['attention'], session.key))
    journal.updateHandoff(id, { state: 'pending', attempts: 0, reason: null, next_at: null });
}
