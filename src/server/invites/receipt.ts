/** What became of a connect whose answer may have been lost. */
import { Refusal } from '../../contract/errors.ts';
import type { ReadCase } from '../operation/usecase.ts';
import { pairingOfInvite } from '../pairing/find.steps.ts';
import { receiptView, seenBoards } from '../views/invite.ts';
import { boardsOf, receiptOfKey } from './invites.store.ts';

/** Only the key that the connect made has one; boards are named while they are visible. */
export const getOnboardingReceipt =
  (serverId: string): ReadCase<'getOnboardingReceipt'>['run'] =>
  async (tx, caller) => {
    const receipt = await receiptOfKey(tx, caller.key.key_id);
    if (!receipt) {
      throw new Refusal('not_found', 'This key was not made by a connect that left a receipt.', {
        hint: 'service whoami shows who the key belongs to.',
      });
    }
    const seen = await seenBoards(tx, caller, boardsOf(receipt));
    const work = await pairingOfInvite(tx, caller, receipt.invite_id);
    return receiptView(serverId, receipt, new Set([...seen, ...(work === undefined ? [] : [work])]));
  };
