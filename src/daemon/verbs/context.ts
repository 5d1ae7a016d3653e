/** The parts of the daemon that verbs use. */

import type { Claims } from '../claims/claims.ts';
import type { WakeDeps } from '../handoff/wake.ts';
import type { DaemonPaths } from '../paths.ts';
import type { Ports } from '../ports.ts';

export interface Context extends WakeDeps, Pick<Ports, 'saved' | 'reports' | 'delegatedBoards' | 'pairing'> {
  paths: DaemonPaths;
  claims: Claims;
}
