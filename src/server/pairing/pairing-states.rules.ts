/**
 * The states of a pairing request as a table: what each trigger does in each state, or with what it is refused there. The
 * state itself is computed from facts and never stored; only an end is.
 */
import type { ErrorCode } from '../../contract/errors.ts';
import type { PairingRequest, PairingState } from '../../contract/types.ts';

export type Closed = 'ready' | 'declined' | 'cancelled' | 'expired';
export type ClosedReason = NonNullable<PairingRequest['closed_reason']>;

/** The facts that determine the state. */
export interface Facts {
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
  'board_archived',
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

export interface Transition {
  /** As the contract numbers it. */
  row: string;
  from: readonly PairingState[];
  on: Trigger;
  /** A further condition, which the caller of the trigger checks. */
  when?: string;
  /** `computed`: the state that follows from the facts afterwards. */
  next: PairingState | 'computed' | 'unchanged';
  effects: readonly Effect[];
  /** How it ends. */
  reason?: ClosedReason;
}

const waiting = ['awaiting_account'] as const;

function ending(
  row: string,
  from: readonly PairingState[],
  on: Trigger,
  next: Closed,
  reason: ClosedReason,
  when?: string,
): Transition {
  return { row, from, on, next, reason, effects: ['close', 'tell_closed', 'stream'], ...(when && { when }) };
}

/** T1 and T2 begin a request; T23 is every cell of an ended one, below. */
const transitions: readonly Transition[] = [
  {
    row: 'T3',
    from: waiting,
    on: 'redeem',
    when: "the inviter's membership and the initiating seat are live",
    next: 'awaiting_session',
    effects: ['recipient', 'stream'],
  },
  {
    row: 'T4',
    from: waiting,
    on: 'select_initiator',
    when: 'no initiator yet; own seat; the generation matches',
    next: 'awaiting_account',
    effects: ['bind', 'proof', 'stream'],
  },
  {
    row: 'T5',
    from: ['awaiting_session'],
    on: 'select_initiator',
    when: 'no initiator yet; own seat; the generation matches',
    next: 'awaiting_session',
    effects: ['bind', 'proof', 'stream'],
  },
  {
    row: 'T6',
    from: ['awaiting_session'],
    on: 'select_recipient',
    when: "no recipient yet; own seat, not the initiator's; the generation matches",
    next: 'awaiting_endpoint',
    effects: ['bind', 'proof', 'stream'],
  },
  {
    row: 'T7',
    from: ['awaiting_endpoint'],
    on: 'accept',
    when: "the recipient's proof; seat and generation match",
    next: 'computed',
    effects: ['accept', 'challenges', 'tell_changed', 'stream'],
  },
  {
    row: 'T8',
    from: ['awaiting_endpoint'],
    on: 'select_initiator',
    when: 'no initiator yet; own seat; the generation matches',
    next: 'computed',
    effects: ['bind', 'proof', 'challenges', 'stream'],
  },
  {
    row: 'T9',
    from: openStates,
    on: 'replace',
    when: 'the generation matches; the old endpoint is not live, or replacing it is asked for',
    next: 'computed',
    effects: ['void', 'bind', 'proof', 'tell_changed', 'stream'],
  },
  {
    row: 'T10',
    from: openStates,
    on: 'renew',
    when: 'the same seat, session and key; the generation matches',
    next: 'unchanged',
    effects: ['proof'],
  },
  {
    row: 'T11',
    from: ['awaiting_session'],
    on: 'choose',
    when: 'an own agent that is not the initiating one; no other choice, or replacing it is asked for',
    next: 'unchanged',
    effects: ['ask', 'stream'],
  },
  {
    row: 'T12/T13',
    from: ['verifying'],
    on: 'verify',
    when: 'the round trip is proved',
    next: 'computed',
    effects: ['evidence', 'ready', 'stream'],
  },
  ending(
    'T14',
    ['awaiting_session', 'awaiting_endpoint', 'verifying'],
    'decline',
    'declined',
    'declined',
    'the recipient',
  ),
  ending('T15', openStates, 'cancel', 'cancelled', 'cancelled', 'the inviter, or the initiating seat'),
  ending('T16', waiting, 'invite_ended', 'cancelled', 'invite_ended'),
  ending('T17', openStates, 'deadline', 'expired', 'timeout'),
  ending('T18', ['awaiting_session'], 'admission_refused', 'cancelled', 'admission_refused'),
  ending('T19', openStates, 'person_ended', 'cancelled', 'person_ended'),
  { ...ending('T20', openStates, 'board_deleted', 'cancelled', 'board_deleted'), effects: ['close', 'stream'] },
  { row: 'T21', from: openStates, on: 'endpoint_ended', next: 'computed', effects: ['stream'] },
  { row: 'T22', from: openStates, on: 'board_archived', next: 'unchanged', effects: [] },
];

/** The refusals, by trigger and state. A cell in neither table changes nothing and is not an error. */
export const refusals: Partial<Record<Trigger, Partial<Record<PairingState, ErrorCode>>>> = {
  redeem: {
    awaiting_session: 'invite_invalid',
    awaiting_endpoint: 'invite_invalid',
    verifying: 'invite_invalid',
    ready: 'invite_invalid',
    declined: 'invite_invalid',
    expired: 'invite_invalid',
  },
  // In `verifying`, the initiator's endpoint is live.
  select_initiator: { verifying: 'pairing_changed', ...allClosed('pairing_closed') },
  // Before the account exists, the recipient is unknown; after `awaiting_session` a recipient is live.
  select_recipient: {
    awaiting_account: 'forbidden',
    awaiting_endpoint: 'pairing_changed',
    verifying: 'pairing_changed',
    ...allClosed('pairing_closed'),
  },
  replace: allClosed('pairing_closed'),
  renew: allClosed('pairing_closed'),
  // From `awaiting_endpoint` on, the recipient's endpoint is live, so no agent can be chosen.
  choose: {
    awaiting_account: 'forbidden',
    awaiting_endpoint: 'pairing_changed',
    verifying: 'pairing_changed',
    ...allClosed('pairing_closed'),
  },
  // Without a live recipient, no proof of one works.
  accept: { awaiting_account: 'unauthorized', awaiting_session: 'unauthorized', ...allClosed('unauthorized') },
  verify: {
    awaiting_account: 'pairing_changed',
    awaiting_session: 'pairing_changed',
    awaiting_endpoint: 'pairing_changed',
    ...allClosed('unauthorized'),
  },
  decline: {
    awaiting_account: 'forbidden',
    ready: 'pairing_closed',
    cancelled: 'pairing_closed',
    expired: 'pairing_closed',
  },
  cancel: { ready: 'pairing_closed', declined: 'pairing_closed', expired: 'pairing_closed' },
};

function allClosed(code: ErrorCode): Record<Closed, ErrorCode> {
  return { ready: code, declined: code, cancelled: code, expired: code };
}

export type Cell = { transition: Transition } | { refused: ErrorCode } | { unchanged: true };

/** What a trigger does in a state. */
export function cellOf(state: PairingState, on: Trigger): Cell {
  const refused = refusals[on]?.[state];
  if (refused !== undefined) return { refused };
  const transition = transitions.find((row) => row.on === on && row.from.includes(state));
  return transition ? { transition } : { unchanged: true };
}
