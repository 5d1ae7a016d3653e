/** The parts of the daemon that most of its functions use. */
import type { DaemonClock } from './clock.ts';
import type { Faults } from './faults.ts';
import type { Journal } from './journal/journal.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { SeatRegistry } from './sessions/seat-registry.ts';
import type { SessionEvents } from './sessions/session.ts';

export interface Common {
  clock: DaemonClock;
  journal: Journal;
  log: Log;
  faults: Faults;
  metrics: Metrics;
  seats: SeatRegistry;
  events: SessionEvents;
}
