/** What the daemon answers requests with. */
import type { Delegating } from '../delegation/delegating.ts';
import type { WakeDeps } from '../handoff/wake.ts';
import type { Pairing } from '../pairing/pairing.ts';
import type { DaemonPaths } from '../paths.ts';
import type { SessionReports } from '../reports/reports.ts';
import type { Bindings } from '../sessions/bindings.ts';
import type { SavedSeats } from '../sessions/saved-seats.ts';

export interface Context extends WakeDeps {
  paths: DaemonPaths;
  bindings: Bindings;
  saved: SavedSeats;
  reports: SessionReports;
  delegating: Pick<Delegating, 'boards' | 'join' | 'createBoard'>;
  /** Absent where no session can take part in pairing requests. */
  pairing?: Pairing;
}
