/** Messages that arrive around a delivery are gathered, so that one wake brings them all. */
import type { Session } from '../sessions/session.ts';

const QUIET_US = 150_000;
const MOST_US = 1_000_000;

/** Messages came in: they are gathered if a delivery is under way or has just been. */
export function noteArrival(session: Session, nowUs: number): void {
  session.arrivedUs = nowUs;
  const under = session.flight !== null || session.preparing !== null;
  if (under || (session.deliveredUs > 0 && nowUs - session.deliveredUs < QUIET_US)) session.gathering = true;
}

/** When the messages that arrived around the last delivery have been quiet for long enough. */
export const gatheredAt = ({ arrivedUs, deliveredUs }: Session): number =>
  Math.min(arrivedUs + QUIET_US, deliveredUs + MOST_US);
