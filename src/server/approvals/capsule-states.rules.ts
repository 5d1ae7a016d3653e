/**
 * What becomes of the sealed secret of an invite that was allowed. `collected` is a secret that its winner may fetch again
 * for a while; a cleared one is never there again.
 */
import type { ErrorCode } from '../../contract/errors.ts';
import type { Transition } from '../text/state-table.ts';

export type CapsuleState = 'held' | 'collected' | 'cleared';
type CapsuleTrigger = 'collect' | 'time_over';

type CapsuleCondition =
  /** The issuer of the invite could not issue it any more. */
  | 'no_authority'
  /** A board of the invite, or that of the agent's seat, is archived. */
  | 'archived'
  /** The invite is used, revoked or over. */
  | 'invite_over'
  /** The request has no Idempotency-Key. */
  | 'no_key'
  /** It has another one than the winner's, or none. */
  | 'other_key'
  /** The secret does not open, or is not the invite's. */
  | 'unreadable';

interface CapsuleEffect {
  /** What the agent gets: the secret, the record alone, or a refusal. */
  gives: 'secret' | 'record' | 'refusal' | 'nothing';
  refused?: ErrorCode | 'own';
  /** The secret was fetched before. */
  recovered?: true;
  /** Its ciphertext, nonce and key hash go, with this reason. */
  erases?: string;
  /** The operator is told. */
  reports?: true;
}

type Row = Transition<CapsuleState, CapsuleTrigger, CapsuleCondition, CapsuleEffect>;

const there = ['held', 'collected'] as const;
const all = [...there, 'cleared'] as const;

const erasing = (erases: string, gives: CapsuleEffect['gives'] = 'nothing'): CapsuleEffect => ({ gives, erases });
const lost: CapsuleEffect = { gives: 'refusal', refused: 'own', erases: 'authority_lost' };
const over = erasing('invite_ended', 'record');
const unreadable: CapsuleEffect = { ...erasing('unreadable', 'record'), reports: true };

export const capsuleTable: readonly Row[] = [
  { id: 'C8', from: all, on: ['collect'], when: 'no_authority', to: 'cleared', effect: lost },
  { id: 'C10', from: all, on: ['collect'], when: 'archived', effect: { gives: 'refusal', refused: 'board_archived' } },
  { id: 'C7', from: there, on: ['collect'], when: 'invite_over', to: 'cleared', effect: over },
  { id: 'C5', from: ['collected'], on: ['collect'], when: 'other_key', effect: { gives: 'record' } },
  { id: 'C9', from: there, on: ['collect'], when: 'unreadable', to: 'cleared', effect: unreadable },
  { id: 'C3', from: ['held'], on: ['collect'], when: 'no_key', to: 'cleared', effect: erasing('collected', 'secret') },
  { id: 'C2', from: ['held'], on: ['collect'], to: 'collected', effect: { gives: 'secret' } },
  { id: 'C4', from: ['collected'], on: ['collect'], effect: { gives: 'secret', recovered: true } },
  { id: 'C11', from: ['cleared'], on: ['collect'], effect: { gives: 'record' } },

  { id: 'C6', from: there, on: ['time_over'], to: 'cleared', effect: erasing('expired') },
  { id: 'C11e', from: ['cleared'], on: ['time_over'], effect: { gives: 'nothing' } },
];
