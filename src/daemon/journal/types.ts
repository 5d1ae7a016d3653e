/** The journal: everything the daemon must still know after it was killed. Behind an interface, so that tests can break it. */
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
  config_dir: string | null;
  harness_version: string | null;
  /** A turn was reported at least once. */
  turned: boolean;
  turn_id: number;
  opened_at: number;
  closed_at: number | null;
}

export interface SeatRow extends SeatIdentity {
  /** The server's, as far as it is known. */
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
  /** Tries that failed: errors of a harness, or wakes that never came back. */
  attempts: number;
  /** Milliseconds since the epoch. */
  next_at: number | null;
  reason: string | null;
  turn_id: number;
  /** Urgent messages of the person's other agents in it, which count against their number in a turn. */
  peers: number;
  created_at: number;
  handed_at: number | null;
  /** Microseconds of the monotonic clock, to compare with when a hook began. */
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

/** Who reports what a seat's program has queued, and how often it has. */
export interface QueueFence extends SeatRef {
  session_key: SessionKey;
  boot: string;
  epoch: number;
  /** The last one that was used, whether its answer came or not. */
  revision: number;
}

/** A message that was given to a program's own queue and has not come back as a prompt. */
export interface QueuedPart extends PartMessage {
  state: HandoffState;
  /** The turn after which it was given. */
  turn_id: number;
}

export interface NoticeTold extends SeatRef {
  notice_id: string;
  handoff_id: HandoffId;
}

/** A handoff with everything that was in it. */
export interface Manifest {
  handoff: HandoffRow;
  parts: PartRow[];
  messages: PartMessage[];
  notices: NoticeTold[];
}

/** All of it throws `JournalError` when the disk is full or the file cannot be written. */
export interface Journal {
  /** One durable transaction: all of what `fn` writes or nothing. Inside another one it is part of that. */
  write<T>(fn: () => T): T;

  sessions(): SessionRow[];
  saveSession(row: SessionRow): void;

  seats(): SeatRow[];
  saveSeat(row: SeatRow): void;

  bindings(): BindingRow[];
  saveBinding(row: BindingRow): void;
  removeBinding(seat: SeatRef): void;

  lostOf(session: SessionKey): LostRow[];
  saveLost(row: LostRow): void;
  removeLost(session: SessionKey, seat: SeatRef): void;

  saveManifest(manifest: Manifest): void;
  handoff(id: HandoffId): HandoffRow | null;
  /** Sets the named columns. */
  updateHandoff(id: HandoffId, change: Partial<Omit<HandoffRow, 'id'>>): void;
  manifest(id: HandoffId): Manifest | null;
  handoffsIn(states: readonly HandoffState[], session?: SessionKey): HandoffRow[];
  setPart(id: HandoffId, seat: SeatRef, state: PartState): void;
  /** Parts of a seat in unfinished handoffs, with their handoff's state. */
  partsOf(seat: SeatRef, states: readonly PartState[]): (PartRow & { handoff_state: HandoffState; last_seq: number })[];
  /** Messages that stand in handoffs of these states. */
  messagesIn(seat: SeatRef, states: readonly HandoffState[]): PartMessage[];
  /** What was given to the queue of a session's program in this boot and has not left it, oldest first. */
  inQueue(session: SessionKey, boot: string): QueuedPart[];
  noticesIn(seat: SeatRef, states: readonly HandoffState[]): NoticeTold[];
  /** The notices of a handoff are acknowledged. */
  dropNotices(id: HandoffId): void;
  /** Messages given truncated at a tool boundary of this boot: they are not given at another one. */
  cutInBoot(seat: SeatRef, session: SessionKey, boot: string): PartMessage[];
  /** Messages of which only the beginning was given, since a time. */
  truncatedSince(at: number): PartMessage[];
  /** Urgent messages of other agents that were given in this turn. */
  peersInTurn(session: SessionKey, boot: string, turnId: number): number;

  received(seat: SeatRef): ReceivedRow[];
  saveReceived(rows: readonly ReceivedRow[], at: number): void;
  /** What the cursor has passed is of no more use. */
  dropReceived(seat: SeatRef, upTo: number): void;

  announcedUpTo(seat: SeatRef, session: SessionKey, boot: string): number;
  saveAnnounced(seat: SeatRef, session: SessionKey, boot: string, upTo: number): void;

  shown(seat: SeatRef, generation: number, boot: string): { message_id: string; seq: number }[];
  saveShown(
    seat: SeatRef,
    generation: number,
    boot: string,
    messages: readonly { message_id: string; seq: number }[],
  ): void;
  dropShown(seat: SeatRef, upTo: number): void;

  nudged(seat: SeatRef, code: string, key: string): boolean;
  saveNudge(seat: SeatRef, code: string, key: string, at: number): void;

  queueFence(seat: SeatRef): QueueFence | null;
  saveQueueFence(row: QueueFence): void;

  watchApproval(row: SeatRef & { approval_id: string; session_key: SessionKey; boot: string; at: number }): void;
  /** The watch of an approval, which is used up by this. */
  takeApprovalWatch(origin: string, approvalId: string): { session_key: SessionKey; boot: string } | null;

  /** Deletes what is finished and older than 7 days, and all finished beyond 10,000. */
  retain(now: number): void;
  bytes(): number;
  close(): void;
}

/** The journal could not be read or written; nothing was handed or bound. */
export class JournalError extends Error {
  constructor(cause: unknown) {
    super(`The journal could not be written: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'JournalError';
  }
}
