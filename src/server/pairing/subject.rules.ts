/** Derives from a request's rows whether each endpoint is live, whether the request has ended, and what it waits for. */
import type { PairingDirection, PairingRequest, PairingSide, PairingState } from '../../contract/types.ts';
import { directions, otherSide, pinger } from './lines.rules.ts';
import { type Closed, type ClosedReason, stateOf } from './pairing-states.rules.ts';

export type PairingRow = {
  id: string;
  board_id: string;
  inviter_id: string;
  initiating_agent_id: string;
  recipient_id: string | null;
  invite_id: string | null;
  work: string;
  generation: number;
  created_at: number;
  expires_at: number;
  accepted: number;
  nonce_i2r: string | null;
  nonce_r2i: string | null;
  after_seq: number | null;
  /** JSON of `Evidence`. */
  evidence_i2r: string | null;
  evidence_r2i: string | null;
  chosen_agent_id: string | null;
  choice_message_id: string | null;
  admission_approval_id: string | null;
  closed: Closed | null;
  closed_reason: ClosedReason | null;
  closed_at: number | null;
} & { [Column in `${PairingSide}_${'agent_id' | 'key_id' | 'binding'}`]: string | null };

/** What an endpoint of a request rests on, as it is now: its seat and key, its person and that person's membership. */
type Endpoint = {
  status: string | null;
  person_id: string | null;
  board_id: string | null;
  key_id: string | null;
  key_revoked_at: number | null;
  key_expires_at: number | null;
  removed_at: number | null;
  member_id: string | null;
};

/** What a request rests on: its board, the columns of both endpoints, its invite, and the recipient's admission. */
type RequestColumns = { [Column in keyof Endpoint as `${'i' | 'r'}_${Column}`]: Endpoint[Column] } & {
  board_lifecycle: 'active' | 'archived' | 'deleted' | null;
  board_visibility: 'open' | 'private' | null;
  invite_agent_id: string | null;
  invite_key_expires_at: number | null;
  admission_state: 'pending' | 'executed' | 'declined' | 'expired' | null;
  admission_expires_at: number | null;
  admission_key_expires_at: number | null;
};

/** A request with everything its state and its sight rest on (requests.store.ts reads it). */
export type SubjectRow = PairingRow & RequestColumns;

/** A round trip as its pinging side reported it. */
export interface Evidence {
  ping_seq: number;
  reply_seq: number;
  handoff_id: string;
}

const passed = (end: number | null, now: number): boolean => end !== null && end <= now;

/** Whether a side has an endpoint whose seat, key, person and membership are unchanged since it was selected. */
export function isLive(row: SubjectRow, side: PairingSide, now: number): boolean {
  const e = side === 'initiator' ? 'i' : 'r';
  const personId = side === 'initiator' ? row.inviter_id : row.recipient_id;
  if (row[`${side}_agent_id`] === null || row[`${e}_status`] !== 'active') return false;
  if (row[`${e}_person_id`] !== personId || row[`${e}_board_id`] !== row.board_id) return false;
  if (row[`${e}_removed_at`] !== null || row[`${e}_member_id`] === null) return false;
  if (row[`${e}_key_id`] !== row[`${side}_key_id`] || row[`${e}_key_revoked_at`] !== null) return false;
  return !passed(row[`${e}_key_expires_at`], now);
}

interface Ended {
  closed: Closed;
  reason: ClosedReason | null;
  at: number;
}

/** Whether it rests on an unused invite of an agent, which ends when the agent gets another token. */
export const waitsOnAgentsInvite = (row: SubjectRow): boolean =>
  row.recipient_id === null && row.invite_agent_id !== null;

/** How it ended, stored or not: ends by time alone are computed here. */
export function endOf(row: SubjectRow, now: number): Ended | null {
  if (row.closed !== null) return { closed: row.closed, reason: row.closed_reason, at: row.closed_at ?? now };
  if (waitsOnAgentsInvite(row) && passed(row.invite_key_expires_at, Math.min(now, row.expires_at - 1))) {
    return { closed: 'cancelled', reason: 'invite_ended', at: row.invite_key_expires_at ?? now };
  }
  const refusedAt = admissionEnd(row, now);
  if (refusedAt !== null && refusedAt < row.expires_at) {
    return { closed: 'cancelled', reason: 'admission_refused', at: refusedAt };
  }
  return row.expires_at <= now ? { closed: 'expired', reason: 'timeout', at: row.expires_at } : null;
}

/** When the time to admit the recipient to the board ran out; null if it has not, or they were admitted. */
function admissionEnd(row: SubjectRow, now: number): number | null {
  if (row.admission_state === null || row.admission_state === 'executed') return null;
  if (row.admission_state !== 'pending') return now;
  const end = Math.min(row.admission_expires_at ?? now, row.admission_key_expires_at ?? Number.POSITIVE_INFINITY);
  return end <= now ? end : null;
}

/** Whether the recipient is admitted to the board; until then they see nothing of it. */
export const recipientIsOnBoard = (row: SubjectRow): boolean =>
  row.admission_approval_id === null || row.admission_state === 'executed';

/** The state it is in. */
export const stateAt = (row: SubjectRow, now: number): PairingState =>
  withEnd(row, now, endOf(row, now)?.closed ?? null);

/** The state before an end by time that is not stored yet. */
export const stateBefore = (row: SubjectRow, now: number): PairingState => withEnd(row, now, row.closed);

function withEnd(row: SubjectRow, now: number, closed: Closed | null): PairingState {
  return stateOf({
    closed,
    account: row.recipient_id !== null,
    initiator: isLive(row, 'initiator', now),
    recipient: isLive(row, 'recipient', now),
    accepted: row.accepted === 1,
    forth: row.evidence_i2r !== null,
    back: row.evidence_r2i !== null,
  });
}

type Progress = NonNullable<PairingRequest['progress']>;
type Step = Progress[PairingDirection];

interface Mark {
  direction: PairingDirection;
  kind: 'ping' | 'reply';
  generation: number;
}

/** What comes next in each direction. */
export function progressOf(row: SubjectRow, marks: readonly Mark[]): Progress {
  const step = (direction: PairingDirection, evidence: string | null): Step => {
    if (evidence !== null) return 'done';
    const seen = marks.filter((mark) => mark.generation === row.generation && mark.direction === direction);
    if (seen.some((mark) => mark.kind === 'reply')) return 'report';
    return seen.some((mark) => mark.kind === 'ping') ? 'reply' : 'ping';
  };
  return {
    initiator_to_recipient: step('initiator_to_recipient', row.evidence_i2r),
    recipient_to_initiator: step('recipient_to_initiator', row.evidence_r2i),
  };
}

/** Which side has to act; undefined if it has ended. */
export function awaitingOf(
  row: SubjectRow,
  state: PairingState,
  progress: Progress | null,
  now: number,
): PairingRequest['awaiting'] {
  const sides = new Set<PairingSide>();
  const initiator = isLive(row, 'initiator', now);
  switch (state) {
    case 'awaiting_account':
      return 'recipient';
    case 'awaiting_session':
      if (!recipientIsOnBoard(row)) return 'initiator';
      return initiator ? 'recipient' : 'both';
    case 'awaiting_endpoint':
      if (!initiator) sides.add('initiator');
      if (row.accepted !== 1) sides.add('recipient');
      break;
    case 'verifying':
      for (const direction of directions) {
        const step = progress?.[direction];
        if (step === 'ping' || step === 'report') sides.add(pinger(direction));
        if (step === 'reply') sides.add(otherSide(pinger(direction)));
      }
      break;
    default:
      return undefined;
  }
  return sides.size === 2 ? 'both' : [...sides][0];
}
