/** Records of agents that several swarm commands return. */
import type { LaunchMode } from '../../../launch/protocol.ts';
import type { Look } from './look.ts';

export interface Problem {
  code: string;
  message: string;
  hint: string;
}

export interface AgentRecord {
  name: string;
  harness: string;
  launcher: string;
  mode: LaunchMode;
  /** `mem_…`; null where it has no seat yet. */
  seat: string | null;
  state: Look['state'];
  by: Look['by'];
  /** Whether an open session holds its seat. */
  seated: boolean;
  /** The session that holds it, as `<harness>:<id>`. */
  session: string | null;
  turn: 'idle' | 'busy' | 'unknown' | null;
  /** How its person looks at it. */
  attach: string | null;
  /** What keeps it from its work: as its launcher says it, or the daemon. */
  blocked: string | null;
}

/** An agent that `swarm up` started, or found running. */
export interface UpAgent extends AgentRecord {
  /** What was done now. */
  action: 'running' | 'resumed' | 'started' | 'failed';
  problem: Problem | null;
}

/** How it stands, as part of its record. */
export const standing = ({
  state,
  by,
  blocked,
  holder,
}: Look): Pick<AgentRecord, 'state' | 'by' | 'blocked' | 'seated' | 'session' | 'turn'> => ({
  state,
  by,
  blocked: blocked ?? holder?.problem ?? null,
  seated: holder?.open === true,
  session: holder?.session ?? null,
  turn: holder?.open ? holder.turn : null,
});
