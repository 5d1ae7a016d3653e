/** The rows of the journal. Times are milliseconds since the epoch unless noted otherwise. */
import type { DeliveryMode } from '../../contract/types.ts';
import type { MessageForm } from '../compose/types.ts';
import type { HandoffClass, HandoffId, SeatProblem, Source } from '../protocol.ts';
import type { SeatIdentity, SeatRef, SessionKey } from '../refs.ts';

/** How a handoff reaches its session. */
export type HandoffPath = 'wait' | 'prompt' | 'tool' | 'turn_end' | 'queue' | 'extension';

export interface SessionRow {
  key: SessionKey;
  harness: string;
  session_id: string;
  boot: string;
  source: Source;
  open: boolean;
  pid: number | null;
  pid_start: string | null;
  cwd: string | null;
  /** Where it was started, if its program said so at its start. */
  started_in: string | null;
  config_dir: string | null;
  harness_version: string | null;
  /** A turn was reported at least once. */
  turned: boolean;
  turn_id: number;
  opened_at: number;
  closed_at: number | null;
}

export interface SeatRow extends SeatIdentity {
  /** The last cursor that the server reported. */
  cursor: number;
  mode: DeliveryMode;
  mode_revision: number;
  generation: number;
  problem: SeatProblem | null;
  problem_at: number | null;
}

export interface BindingRow extends SeatRef {
  session_key: SessionKey;
  generation: number;
  bound_at: number;
  told_mode: DeliveryMode | null;
}

export interface LostRow extends SeatIdentity {
  session_key: SessionKey;
  taken_by: SessionKey;
  at: number;
  /** 1: its former session was told. */
  told: number;
}

export type HandoffState = 'prepared' | 'handed' | 'confirmed' | 'done' | 'pending' | 'retry' | 'attention' | 'ended';

export interface HandoffRow {
  id: HandoffId;
  session_key: SessionKey;
  boot: string;
  path: HandoffPath;
  class: HandoffClass;
  payload_sha256: string;
  bytes: number;
  state: HandoffState;
  /** Failed attempts: errors of a harness, or wakes without an echo. */
  attempts: number;
  next_at: number | null;
  reason: string | null;
  turn_id: number;
  /** Number of urgent messages from the person's other agents, which are limited per turn. */
  peers: number;
  created_at: number;
  handed_at: number | null;
  /** Microseconds of the monotonic clock, comparable with a hook's start. */
  accepted_at: number | null;
  turn_at: number | null;
  confirmed_at: number | null;
  stalled_at: number | null;
}

export type PartState = 'open' | 'confirmed' | 'acked' | 'ended';

export interface PartRow extends SeatRef {
  handoff_id: HandoffId;
  board_id: string;
  generation: number;
  state: PartState;
}

export interface PartMessage extends SeatRef {
  handoff_id: HandoffId;
  message_id: string;
  seq: number;
  form: MessageForm;
}

export interface ReceivedRow extends SeatRef {
  message_id: string;
  seq: number;
  via: 'handoff' | 'claim';
}

/** A session whose agent waits for its person's decision. */
export interface ApprovalWatch extends SeatRef {
  approval_id: string;
  session_key: SessionKey;
  boot: string;
}

/** The reporter of a seat's program queue, and the number of its last report. */
export interface QueueFence extends SeatRef {
  session_key: SessionKey;
  boot: string;
  epoch: number;
  /** The last revision sent, whether or not an answer arrived. */
  revision: number;
}

/** A message that was added to a program's own queue and has not become a prompt yet. */
export interface QueuedPart extends PartMessage {
  state: HandoffState;
  /** The turn in which it was added. */
  turn_id: number;
}

export interface HandoffNotice extends SeatRef {
  notice_id: string;
  handoff_id: HandoffId;
}

/** A handoff with everything that was in it. */
export interface Manifest {
  handoff: HandoffRow;
  parts: PartRow[];
  messages: PartMessage[];
  notices: HandoffNotice[];
}
