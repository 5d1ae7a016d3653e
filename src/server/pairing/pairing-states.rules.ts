/**
 * The states of a pairing request as a table: what each trigger does in each state, or with what it is refused there. The
 * state itself is computed from facts and never stored; only an end is.
 */
import type { PairingRequest, PairingState } from '../../contract/types.ts';
import { type Transition, transitionsFrom } from '../text/state-table.ts';

export type Closed = 'ready' | 'declined' | 'cancelled' | 'expired';
export type ClosedReason = NonNullable<PairingRequest['closed_reason']>;

/** The facts that determine the state. */
interface Facts {
  /** How it ended; null if it has not. */
  closed: Closed | null;
  /** The recipient is known. */
  account: boolean;
  /** Each side has an endpoint that is live. */
  initiator: boolean;
  recipient: boolean;
  /** Accepted in this generation. */
  accepted: boolean;
  /** The round trip of each pinging side is proved. */
  forth: boolean;
  back: boolean;
}

export function stateOf(facts: Facts): PairingState {
  if (facts.closed !== null) return facts.closed;
  if (!facts.account) return 'awaiting_account';
  if (!facts.recipient) return 'awaiting_session';
  if (!facts.initiator || !facts.accepted) return 'awaiting_endpoint';
  return facts.forth && facts.back ? 'ready' : 'verifying';
}

export const openStates = ['awaiting_account', 'awaiting_session', 'awaiting_endpoint', 'verifying'] as const;
export const closedStates = ['ready', 'declined', 'cancelled', 'expired'] as const;
export const isClosed = (state: PairingState): state is Closed => (closedStates as readonly string[]).includes(state);

export const triggers = [
  'redeem',
  'select_initiator',
  'select_recipient',
  'replace',
  'renew',
  'choose',
  'accept',
  'verify',
  'decline',
  'cancel',
  'invite_ended',
  'deadline',
  'admission_refused',
  'person_ended',
  'board_deleted',
  'endpoint_ended',
] as const;
export type Trigger = (typeof triggers)[number];

/** What happens in the same transaction, in this order. */
export type Effect =
  /** The newcomer is the recipient, with a week from now. */
  | 'recipient'
  /** Generation plus one; every proof, round trip, mark and nonce and the acceptance are void. */
  | 'void'
  /** The side has this endpoint. */
  | 'bind'
  /** The proof is good for ten minutes, and an earlier one of this side is not. */
  | 'proof'
  | 'accept'
  | 'evidence'
  /** On entry to `verifying`: two fresh nonces, and the board's head, after which the pings must come. */
  | 'challenges'
  /** The person asks their agent, in a message. */
  | 'ask'
  /** Ends it, with the reason; every proof is void. */
  | 'close'
  | 'tell_changed'
  /** With both round trips on file it is over: every proof is void, and both seats are told. */
  | 'ready'
  | 'tell_closed'
  /** Notifies inviter and recipient on their streams. */
  | 'stream';

/** What a trigger is refused with. */
export type Refused = 'pairing_closed' | 'pairing_changed' | 'unauthorized' | 'forbidden' | 'invite_invalid';

interface Change {
  /** What it is refused with; nothing else happens. */
  refused?: Refused;
  /** `computed`: the state that follows from the facts afterwards. */
  next: PairingState | 'computed' | 'unchanged';
  effects: readonly Effect[];
  /** How it ends. */
  reason?: ClosedReason;
}

export type Row = Transition<PairingState, Trigger, never, Change>;

/** As the contract numbers them. What else must hold, its comment says and the caller of the trigger checks. */
const row = (id: string, from: Row['from'], on: Trigger, next: Change['next'], effects: readonly Effect[]): Row => ({
  id,
  from,
  on: [on],
  effect: { next, effects },
});

const ending = (id: string, from: Row['from'], on: Trigger, next: Closed, reason: ClosedReason): Row => ({
  id,
  from,
  on: [on],
  // Nobody has a seat left who could be told of a deleted board.
  effect: { next, reason, effects: on === 'board_deleted' ? ['close', 'stream'] : ['close', 'tell_closed', 'stream'] },
});

const refusing = (refused: Refused, on: Row['on'], from: Row['from']): Row => ({
  id: `${refused} to ${on.join()}`,
  from,
  on,
  effect: { refused, next: 'unchanged', effects: [] },
});

const waiting = ['awaiting_account'] as const;
const arrived = ['awaiting_session'] as const;
const selected = ['awaiting_endpoint'] as const;
const unselected = [...waiting, ...arrived] as const;
const binding = ['bind', 'proof', 'stream'] as const;

/** T1 and T2 begin a request; T22 is an archived board, which moves none; T23 is whatever comes to an ended one. */
export const pairingTable: readonly Row[] = [
  // The inviter's membership and the initiating seat are live.
  row('T3', waiting, 'redeem', 'awaiting_session', ['recipient', 'stream']),
  // T4, T5, T8: no initiator yet; own seat; the generation matches.
  row('T4', waiting, 'select_initiator', 'awaiting_account', binding),
  row('T5', arrived, 'select_initiator', 'awaiting_session', binding),
  // No recipient yet; own seat, not the initiator's; the generation matches.
  row('T6', arrived, 'select_recipient', 'awaiting_endpoint', binding),
  // The recipient's proof; seat and generation match.
  row('T7', selected, 'accept', 'computed', ['accept', 'challenges', 'tell_changed', 'stream']),
  row('T8', selected, 'select_initiator', 'computed', ['bind', 'proof', 'challenges', 'stream']),
  // The generation matches; the old endpoint is not live, or replacing it is asked for.
  row('T9', openStates, 'replace', 'computed', ['void', 'bind', 'proof', 'tell_changed', 'stream']),
  // The same seat, session and key; the generation matches.
  row('T10', openStates, 'renew', 'unchanged', ['proof']),
  // An own agent that is not the initiating one; no other choice, or replacing it is asked for.
  row('T11', arrived, 'choose', 'unchanged', ['ask', 'stream']),
  // The round trip is proved.
  row('T12/T13', ['verifying'], 'verify', 'computed', ['evidence', 'ready', 'stream']),
  // By the recipient.
  ending('T14', [...arrived, ...selected, 'verifying'], 'decline', 'declined', 'declined'),
  // By the inviter, or the initiating seat.
  ending('T15', openStates, 'cancel', 'cancelled', 'cancelled'),
  ending('T16', waiting, 'invite_ended', 'cancelled', 'invite_ended'),
  ending('T17', openStates, 'deadline', 'expired', 'timeout'),
  ending('T18', arrived, 'admission_refused', 'cancelled', 'admission_refused'),
  ending('T19', openStates, 'person_ended', 'cancelled', 'person_ended'),
  ending('T20', openStates, 'board_deleted', 'cancelled', 'board_deleted'),
  row('T21', openStates, 'endpoint_ended', 'computed', ['stream']),

  refusing('invite_invalid', ['redeem'], [...arrived, ...selected, 'verifying', 'ready', 'declined', 'expired']),
  refusing('pairing_closed', ['select_initiator', 'select_recipient', 'replace', 'renew', 'choose'], closedStates),
  // In `verifying`, the initiator's endpoint is live.
  refusing('pairing_changed', ['select_initiator'], ['verifying']),
  // Before the account exists, the recipient is unknown; from `awaiting_endpoint` on a recipient is live.
  refusing('forbidden', ['select_recipient', 'choose'], waiting),
  refusing('pairing_changed', ['select_recipient', 'choose'], [...selected, 'verifying']),
  // Without a live recipient, no proof of one works.
  refusing('unauthorized', ['accept'], [...unselected, ...closedStates]),
  refusing('pairing_changed', ['verify'], [...unselected, ...selected]),
  refusing('unauthorized', ['verify'], closedStates),
  refusing('forbidden', ['decline'], waiting),
  refusing('pairing_closed', ['decline'], ['ready', 'cancelled', 'expired']),
  refusing('pairing_closed', ['cancel'], ['ready', 'declined', 'expired']),
];

/** What a trigger does in a state. Undefined: nothing, which is not an error. */
export const transitionOf = (state: PairingState, on: Trigger): Row | undefined =>
  transitionsFrom(pairingTable, state, on)[0];
