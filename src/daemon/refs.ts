/** References to seats and sessions, and the read-only view of a session. */
import type { DeliveryMode } from '../contract/types.ts';
import type { AgentRef, ProcessRef, SeatProblem, TurnState } from './protocol.ts';

/** `<harness>:<session id>`. */
export type SessionKey = string;

/** Identifies a seat: the canonical origin of its server, and its member id there. */
export interface SeatRef {
  origin: string;
  member_id: string;
}

/** The key of a seat in maps. */
export const seatKey = ({ origin, member_id }: SeatRef): string => `${origin} ${member_id}`;

/** A seat as this machine's saved token proves it; `board` and `name` are for display only. */
export interface SeatIdentity extends SeatRef {
  board_id: string;
  board: string;
  name: string;
}

/** The seat in the form of the control protocol. */
export const agentRefOf = ({ origin, board, name, member_id, board_id }: SeatIdentity): AgentRef => ({
  server: origin,
  board,
  name,
  member_id,
  board_id,
});

/** Whether the problem is permanent until a session binds the seat again. */
export const isFinal = (problem: SeatProblem | null | undefined): boolean =>
  problem === 'agent_removed' || problem === 'board_gone';

/** What a session needs from its person before it can continue. */
export interface NeedsPerson {
  for: 'permission' | 'question';
  question?: string;
  where?: string;
}

/** The state of a session for other parts, without the means to change it. */
export interface SessionView {
  key: SessionKey;
  harness: string;
  session: string;
  boot: string;
  open: boolean;
  turn: TurnState;
  /** Whether any turn was ever reported; if not, `turn` is unknown. */
  turned: boolean;
  /** What it reported that it needs from its person. */
  needsPerson: NeedsPerson | null;
  process?: ProcessRef;
  cwd?: string;
  config_dir?: string;
  harness_version?: string;
  /** With the mode of each, once its server has told it. */
  seats: (SeatIdentity & { mode?: DeliveryMode | undefined })[];
}
