/** Input and result of composing a text for a session. */
import type { DeliveryMode, Inbox } from '../../contract/types.ts';
import type { Limits } from '../adapter.ts';
import type { TaskOutcome } from '../bundle/options.ts';
import type { HandoffClass, HandoffId } from '../protocol.ts';
import type { SeatIdentity, SeatRef } from '../refs.ts';
import type { Notice } from '../server-link/link.ts';

/** How much of a message stands in the text. `truncated` counts as received except at a tool boundary. */
export type MessageForm = 'full' | 'digest' | 'truncated';

/** Where text is about to be given. */
export type Point = 'wake' | 'turn_start' | 'boundary' | 'turn_end';

export interface ComposeSeat {
  seat: SeatIdentity;
  /** Read with its own token just now; the only source of bodies. */
  inbox: Inbox;
  outcomes?: ReadonlyMap<string, TaskOutcome>;
  /** The one with the highest revision known. */
  mode: DeliveryMode;
  /** What the session was last told its mode is; null: nothing yet. */
  announcedMode: DeliveryMode | null;
  /** Messages that are received, shown, held or on their way: not given and not counted. */
  skip: ReadonlySet<string>;
  /** Messages of a handoff that has to be given again: given at every point and in every mode except `off`. */
  retry: ReadonlySet<string>;
  /** Notices that are not acknowledged and not on their way. */
  notices: readonly Notice[];
  /** Waiting notices named everything up to here in this boot. */
  announcedUpTo: number;
  /** Whether a reminder of this kind was already given for this occasion. */
  nudged(code: string, key: string): boolean;
}

export interface ComposeInput {
  point: Point;
  handoffId: HandoffId;
  seats: readonly ComposeSeat[];
  /** The session holds several seats, also where only one has something to give; servers likewise. */
  severalSeats: boolean;
  severalServers: boolean;
  limits: Limits;
  reservedTags: readonly string[];
  /** Urgent messages of the person's other agents that may still enter this turn; 0 where the harness cannot. */
  peersLeft: number;
  /** Milliseconds since the epoch. */
  now: number;
  /** The selection of an earlier try, which is given again exactly where all of it is still unread. */
  frozen?: readonly (SeatRef & { message_id: string })[];
  /** Number of the handoff in its session, for the fair rotation of boards. */
  rotation: number;
  /** Only messages of its owner and no other line: the program takes the text as its owner’s prompt. */
  ownerOnly?: boolean;
  /** The program tells its agent that a text given this way is not its person's. */
  disowned?: boolean;
}

export interface Composed {
  /** Absent parts have nothing to say. */
  nudge?: string;
  bundle?: string;
  notice?: string;
  class: HandoffClass;
  messages: (SeatRef & { message_id: string; seq: number; form: MessageForm })[];
  /** Notices that stand in the text. */
  notices: (SeatRef & { id: string })[];
  /** Reminders that stand in the text, with what they were for. */
  nudges: (SeatRef & { code: string; key: string })[];
  /** Modes the text told. */
  modes: (SeatRef & { mode: DeliveryMode })[];
  /** Up to where the waiting notice now names everything. */
  announced: (SeatRef & { up_to_seq: number })[];
  /** Urgent messages of other agents among them. */
  peers: number;
}
