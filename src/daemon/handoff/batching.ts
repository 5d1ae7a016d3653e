/** Batches messages that arrive around a delivery, so that one wake delivers them all. */
import type { Session } from '../sessions/session.ts';

const BATCH_QUIET_US = 150_000;
const MAX_BATCH_US = 1_000_000;

/** Records an arrival; starts batching if a delivery is in progress or just ended. */
export function recordArrival(session: Session, nowUs: number): void {
  session.arrivedUs = nowUs;
  const under = session.flight !== null || session.preparing !== null;
  if (under || (session.deliveredUs > 0 && nowUs - session.deliveredUs < BATCH_QUIET_US)) session.batching = true;
}

/** When the batch is delivered: after a quiet period, at the latest a second after the last delivery. */
export const batchDueUs = ({ arrivedUs, deliveredUs }: Session): number =>
  Math.min(arrivedUs + BATCH_QUIET_US, deliveredUs + MAX_BATCH_US);
