/** What becomes of an invite. Looking at one is refused as redeeming it is. */
import type { ErrorCode } from '../../contract/errors.ts';
import type { Transition } from '../text/state-table.ts';

/** Redeemed, revoked, expired, active: the first that is true. */
export type InviteState = 'active' | 'expired' | 'revoked' | 'redeemed';
type InviteTrigger = 'redeem' | 'revoke';

type InviteCondition =
  /** Its person is no admin any more or off one of its boards, a board is deleted, or the seat or key behind it ended. */
  | 'no_authority'
  /** One of its boards is archived. */
  | 'archived';

export interface InviteEffect {
  refused?: ErrorCode;
  /** Why the secret that was sealed for the agent is gone. */
  clears?: string;
  /** The agent that asked for it is told. */
  tells?: 'invite_redeemed';
}

type Row = Transition<InviteState, InviteTrigger, InviteCondition, InviteEffect>;

const redeemed: InviteEffect = { clears: 'invite_redeemed', tells: 'invite_redeemed' };

export const inviteTable: readonly Row[] = [
  { id: 'I1', from: ['active'], on: ['redeem'], when: 'no_authority', effect: { refused: 'invite_invalid' } },
  { id: 'I2', from: ['active'], on: ['redeem'], when: 'archived', effect: { refused: 'invite_invalid' } },
  { id: 'I3', from: ['active'], on: ['redeem'], to: 'redeemed', effect: redeemed },
  { id: 'I4', from: ['redeemed', 'revoked', 'expired'], on: ['redeem'], effect: { refused: 'invite_invalid' } },
  { id: 'I5', from: ['active', 'expired'], on: ['revoke'], to: 'revoked', effect: { clears: 'invite_revoked' } },
  { id: 'I6', from: ['redeemed', 'revoked'], on: ['revoke'], effect: {} },
];
