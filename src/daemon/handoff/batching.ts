/** Messages that arrive around a delivery are gathered, so that one wake brings them all. */
import type { Session } from '../sessions/session.ts';

const BATCH_QUIET_US = 150_000;
const MAX_BATCH_US = 1_000_000;

/** Messages came in: they are gathered if a delivery is under way or has just been. */
export function recordArrival(session: Session, nowUs: number): void {
  session.arrivedUs = nowUs;
  const under = session.flight !== null || session.preparing !== null;
  if (under || (session.deliveredUs > 0 && nowUs - session.deliveredUs < BATCH_QUIET_US)) session.batching = true;
}

/** When the messages that arrived around the last delivery have been quiet for long enough. */
export const batchDueUs = ({ arrivedUs, deliveredUs }: Session): number =>
  Math.min(arrivedUs + BATCH_QUIET_US, deliveredUs + MAX_BATCH_US);
