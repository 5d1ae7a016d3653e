/** What happens to sessions here, for the parts that follow it: reports, pairings and the waking of idle sessions. */
import type { EventEmitter } from 'node:events';
import type { HandoffId } from '../protocol.ts';
import type { SeatRef, SessionKey } from '../refs.ts';
import type { Session } from './session.ts';

/** Messages that a session has certainly received. */
export interface Receipt {
  session: SessionKey;
  boot: string;
  handoff: HandoffId;
  messages: readonly (SeatRef & { message_id: string; seq: number })[];
}

interface SessionEventMap {
  /** Its life, turn, seats or handoff are others now. */
  changed: [session: Session];
  /** Something happened after which it may have to be woken. */
  deliverable: [session: Session];
  /** A seat has left the session that held it. */
  released: [seat: SeatRef];
  received: [receipt: Receipt];
}
export type SessionEvents = EventEmitter<SessionEventMap>;
