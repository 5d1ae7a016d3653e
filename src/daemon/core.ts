/** What every part of the core has at hand. Sessions are the only writers of their own state; nothing awaits between reading and changing it. */
import type { DaemonClock } from './clock.ts';
import type { Faults } from './faults.ts';
import type { Acknowledger } from './inbox/acknowledge.ts';
import type { Journal } from './journal/types.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Pairing } from './pairing/pairing.ts';
import type { DaemonPaths } from './paths.ts';
import type { Doors } from './sessions/doors.ts';
import type { Seats } from './sessions/seats.ts';
import type { Session } from './sessions/session.ts';
import type { Sessions } from './sessions/sessions.ts';
import type { Adapters, Compose, Delegating, Origins, Reports, SavedSeats } from './types.ts';

/** What the core meets the world with. */
export interface Ports {
  origins: Origins;
  adapters: Adapters;
  compose: Compose;
  reports: Reports;
  saved: SavedSeats;
  delegating: Delegating;
  /** Absent where no session can take part in pairing requests. */
  pairing?: Pairing;
}

export interface Core extends Ports {
  paths: DaemonPaths;
  clock: DaemonClock;
  journal: Journal;
  log: Log;
  faults: Faults;
  metrics: Metrics;
  sessions: Sessions;
  doors: Doors;
  seats: Seats;
  acks: Acknowledger;
  /** Looks whether a session has to be woken now. */
  consider(session: Session): void;
  /** Nothing new is handed and nothing accepted any more. */
  stopping: boolean;
}
