/**
 * What becomes of a request. `new` is a request that is just being made; `executed`, `declined` and `expired` are for good.
 * Time and endings hold whether or not anything has written them down yet (`effective` in approvals.store.ts).
 */
import type { ErrorCode } from '../../contract/errors.ts';
import type { Approval } from '../../contract/types.ts';
import type { Transition } from '../text/state-table.ts';

export type ApprovalState = 'new' | Approval['state'];
export type ClosedReason = NonNullable<Approval['closed_reason']>;

/** What ends a request from outside. */
const endings = ['time_over', 'seat_ended', 'key_ended', 'person_ended'] as const;
export type Ending = (typeof endings)[number];
export type ApprovalTrigger = 'request' | 'allow' | 'allow_always' | 'decline' | Ending;

export type ApprovalCondition =
  /** This kind of action is allowed one at a time only. */
  | 'no_category'
  /** The stored action is not the one that was asked for. */
  | 'altered'
  /** The person could not do it themselves now. */
  | 'no_authority'
  /** The person's allowance does it without asking. */
  | 'covered'
  /** A browser asks for what only the person's own key allows. */
  | 'own_key_needed';

interface ApprovalEffect {
  /** What is done about the request itself. */
  does: 'hold' | 'execute' | 'decline' | 'close' | 'show' | 'hand_over' | 'nothing';
  /** What it is refused with; `own`: with what the person's own operation would be refused with. */
  refused?: ErrorCode | 'own';
  /** Written down as the reason. */
  reason?: ClosedReason;
  /** Told to the agent that asked. */
  notice?: 'approval_allowed' | 'approval_declined' | 'approval_expired';
  /** The secret of an invite is sealed for the agent. */
  seals?: true;
  /** The like needs no asking from now on. */
  allows?: true;
}

type Row = Transition<ApprovalState, ApprovalTrigger, ApprovalCondition, ApprovalEffect>;

const allowing = ['allow', 'allow_always'] as const;
const decided = ['executed', 'declined', 'expired'] as const;
const made = ['pending', ...decided] as const;
const refused = (code: ErrorCode | 'own'): ApprovalEffect => ({ does: 'nothing', refused: code });
const closed = (reason: ClosedReason): ApprovalEffect => ({ does: 'close', reason });
const declined: ApprovalEffect = { does: 'decline', notice: 'approval_declined' };
const lapsed: ApprovalEffect = { ...closed('timeout'), notice: 'approval_expired' };
const allowed: ApprovalEffect = { does: 'execute', notice: 'approval_allowed', seals: true };

export const approvalTable: readonly Row[] = [
  { id: 'A3', from: ['new'], on: ['request'], when: 'no_authority', effect: refused('own') },
  { id: 'A1', from: ['new'], on: ['request'], when: 'covered', to: 'executed', effect: { does: 'execute' } },
  { id: 'A2', from: ['new'], on: ['request'], to: 'pending', effect: { does: 'hold' } },

  // Whether it may be allowed for ever is asked before its state is looked at.
  { id: 'A6', from: made, on: ['allow_always'], when: 'no_category', effect: refused('invalid_request') },
  { id: 'A17', from: ['declined', 'expired'], on: allowing, effect: refused('approval_closed') },
  { id: 'A18', from: ['pending', 'executed'], on: allowing, when: 'altered', effect: refused('approval_closed') },
  { id: 'A8', from: ['pending'], on: allowing, when: 'no_authority', effect: refused('own') },
  { id: 'A7', from: ['pending'], on: ['allow'], when: 'own_key_needed', effect: { does: 'hand_over' } },
  { id: 'A4', from: ['pending'], on: ['allow'], to: 'executed', effect: allowed },
  { id: 'A5', from: ['pending'], on: ['allow_always'], to: 'executed', effect: { ...allowed, allows: true } },
  { id: 'A14r', from: ['executed'], on: allowing, when: 'no_authority', effect: refused('own') },
  { id: 'A14', from: ['executed'], on: allowing, effect: { does: 'show' } },

  { id: 'A9', from: ['pending'], on: ['decline'], to: 'declined', effect: declined },
  { id: 'A16', from: ['declined'], on: ['decline'], effect: { does: 'show' } },
  { id: 'A15', from: ['executed', 'expired'], on: ['decline'], effect: refused('approval_closed') },

  { id: 'A10', from: ['pending'], on: ['time_over'], to: 'expired', effect: lapsed },
  { id: 'A11', from: ['pending'], on: ['seat_ended'], to: 'expired', effect: closed('requester_ended') },
  { id: 'A12', from: ['pending'], on: ['key_ended'], to: 'expired', effect: closed('key_ended') },
  { id: 'A13', from: ['pending'], on: ['person_ended'], to: 'expired', effect: closed('person_ended') },
  { id: 'A0', from: decided, on: endings, effect: { does: 'nothing' } },
];
