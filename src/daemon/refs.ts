/** References to seats and sessions, and a session as other parts see it. */
import type { AgentRef, ProcessRef, SeatProblem, TurnState } from './protocol.ts';

/** `<harness>:<session id>`. */
export type SessionKey = string;

/** What a seat is known by: the canonical origin of its server, and its member id there. */
export interface SeatRef {
  origin: string;
  member_id: string;
}

/** The seat of a reference as one string, for maps. */
export const seatKey = ({ origin, member_id }: SeatRef): string => `${origin} ${member_id}`;

/** A seat as this machine's saved token proves it; `board` and `name` are for display only. */
export interface SeatIdentity extends SeatRef {
  board_id: string;
  board: string;
  name: string;
}

/** A seat as a frame names it. */
export const agentRefOf = ({ origin, board, name, member_id, board_id }: SeatIdentity): AgentRef => ({
  server: origin,
  board,
  name,
  member_id,
  board_id,
});

/** Whether a seat with this problem is over until a session binds it again. */
export const isFinal = (problem: SeatProblem | null | undefined): boolean =>
  problem === 'agent_removed' || problem === 'board_gone';

/** What a session waits for its person with. */
export interface NeedsPerson {
  for: 'permission' | 'question';
  question?: string;
  where?: string;
}

/** A session as other parts see it. */
export interface SessionView {
  key: SessionKey;
  harness: string;
  session: string;
  boot: string;
  open: boolean;
  turn: TurnState;
  /** Whether any turn was ever reported; without, nothing is known about turns. */
  turned: boolean;
  /** What it reported that it waits for its person with. */
  needsPerson: NeedsPerson | null;
  process?: ProcessRef;
  cwd?: string;
  config_dir?: string;
  harness_version?: string;
  seats: SeatIdentity[];
}
