/** One seat that this machine holds or held: what its server last said, who holds it, and what of it is being held back. */
import type { SeatRow } from '../journal/types.ts';
import type { AgentRef, Inbox, InboxRead, Mode, Notice, SeatIdentity, SeatView } from '../types.ts';
import type { Session } from './session.ts';

/** A connection that keeps messages of a seat to itself while it is open. */
export interface Hold {
  /** Replies to this message only; left out: everything. */
  replyTo?: string | number;
}

export class Seat {
  row: SeatRow;
  session: Session | null = null;
  /** What its session was last told the mode is. */
  toldMode: Mode | null = null;
  boundAt = 0;
  latest: InboxRead | null = null;
  notices: readonly Notice[] = [];
  readonly holds = new Set<Hold>();
  /** Received and not yet passed by the cursor, by message id. */
  readonly received = new Map<string, number>();
  /** What its server told and the journal did not take yet, by kind, in the order in which it was told. */
  readonly untold = new Map<string, (seat: Seat) => void>();
  /** The newest message that was seen in a read. */
  seenSeq = 0;

  constructor(row: SeatRow) {
    this.row = row;
  }

  get identity(): SeatIdentity {
    const { origin, member_id, board_id, board, name } = this.row;
    return { origin, member_id, board_id, board, name };
  }

  get ref(): AgentRef {
    const { origin, member_id, board_id, board, name } = this.row;
    return { server: origin, board, name, member_id, board_id };
  }

  get view(): SeatView {
    const { mode, generation, problem } = this.row;
    return { ...this.ref, mode, unread: this.unread, generation, ...(problem ? { problem } : {}) };
  }

  /** What nobody has received yet, as far as the last read tells. */
  get unread(): number {
    if (!this.latest) return 0;
    const { unread, messages } = this.latest.inbox;
    const gone = messages.filter(({ id, seq }) => seq <= this.row.cursor || this.received.has(id)).length;
    return Math.max(0, unread - gone);
  }

  /** Somebody reads the whole inbox elsewhere right now. */
  get held(): boolean {
    return [...this.holds].some(({ replyTo }) => replyTo === undefined);
  }

  /** Whether a message is kept for somebody who waits for exactly this answer. */
  keepsBack({ reply_to, reply_to_seq }: Inbox['messages'][number]): boolean {
    if (reply_to === null) return false;
    return [...this.holds].some(({ replyTo }) => replyTo === reply_to || replyTo === reply_to_seq);
  }
}
