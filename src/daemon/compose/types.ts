/** Input and result of composing a text for a session. */
import type { DeliveryMode, Inbox } from '../../contract/types.ts';
import type { Limits } from '../adapter.ts';
import type { TaskOutcome } from '../bundle/options.ts';
import type { HandoffClass, HandoffId } from '../protocol.ts';
import type { SeatIdentity, SeatRef } from '../refs.ts';
import type { Notice } from '../server-link/link.ts';

/**
 * How a message appears in the text. `truncated` is too long to be given whole: its beginning, or its line in a digest. It
 * counts as received, except at a tool boundary.
 */
export type MessageForm = 'full' | 'digest' | 'truncated';

/** When the text is delivered. */
export type Point = 'wake' | 'turn_start' | 'boundary' | 'turn_end';

export interface ComposeSeat {
  seat: SeatIdentity;
  /** Just read with the seat's token; the only source of message bodies. */
  inbox: Inbox;
  outcomes?: ReadonlyMap<string, TaskOutcome>;
  /** The mode with the highest known revision. */
  mode: DeliveryMode;
  /** The mode that was last announced to the session; null if none was. */
  announcedMode: DeliveryMode | null;
  /** Messages that are received, shown, held or in flight: neither delivered nor counted. */
  skip: ReadonlySet<string>;
  /** Messages of a failed handoff: delivered at every turn's start, in every mode except `off`. */
  retry: ReadonlySet<string>;
  /** Left out of a text with only its owner's messages: they follow, and wake the session for that unless they are quiet. */
  heldBack: ReadonlySet<string>;
  /** Notices that are neither acknowledged nor in flight. */
  notices: readonly Notice[];
  /** The highest message number that notices announced in this boot. */
  announcedUpTo: number;
  /** Whether a reminder of this kind was already shown for this occasion. */
  nudged(code: string, key: string): boolean;
}

export interface ComposeInput {
  point: Point;
  handoffId: HandoffId;
  seats: readonly ComposeSeat[];
  /** The session holds several seats, even if only one has messages; the same for servers. */
  severalSeats: boolean;
  severalServers: boolean;
  limits: Limits;
  reservedTags: readonly string[];
  /** How many urgent messages of the person's other agents may still enter this turn. */
  peersLeft: number;
  /** Milliseconds since the epoch. */
  now: number;
  /** The messages of an earlier attempt, which is repeated unchanged if all of them are still unread. */
  frozen?: readonly (SeatRef & { message_id: string })[];
  /** Number of the handoff in its session, to rotate the boards. */
  rotation: number;
  /** Only the owner's messages and no other lines, because the program treats the text as its owner's prompt. */
  ownerOnly?: boolean;
  /** The program marks a text delivered this way as not written by the user. */
  notFromUser?: boolean;
}

export interface Composed {
  /** Parts without content are absent. */
  nudge?: string;
  bundle?: string;
  notice?: string;
  class: HandoffClass;
  messages: (SeatRef & { message_id: string; seq: number; form: MessageForm })[];
  /** Notices in the text. */
  notices: (SeatRef & { id: string })[];
  /** Reminders in the text, with their occasions. */
  nudges: (SeatRef & { code: string; key: string })[];
  /** Modes that the text announces. */
  modes: (SeatRef & { mode: DeliveryMode })[];
  /** The highest message numbers that the notice announces. */
  announced: (SeatRef & { up_to_seq: number })[];
  /** Number of urgent messages from other agents in the text. */
  peers: number;
}
