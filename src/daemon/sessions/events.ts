/** Events of this machine's sessions, for reports, pairings and waking. */
import type { EventEmitter } from 'node:events';
import type { HandoffId } from '../protocol.ts';
import type { SeatRef, SessionKey } from '../refs.ts';
import type { Session } from './session.ts';

/** Messages whose receipt by a session is confirmed. */
export interface Receipt {
  session: SessionKey;
  boot: string;
  handoff: HandoffId;
  messages: readonly (SeatRef & { message_id: string; seq: number })[];
}

interface SessionEventMap {
  /** Its boot, turn, seats or handoff changed. */
  changed: [session: Session];
  /** It may have to be woken. */
  deliverable: [session: Session];
  /** A seat was released by its session. */
  released: [seat: SeatRef];
  received: [receipt: Receipt];
}
export type SessionEvents = EventEmitter<SessionEventMap>;
