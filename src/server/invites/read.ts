/** Invites as their issuer reads them, and what a person gets again who came by one. */
import { Refusal } from '../../contract/errors.ts';
import type { ReadCase } from '../operation/usecase.ts';
import { pairingOfInvite } from '../pairing/find.steps.ts';
import { cutPage, pageFrom, readPageToken } from '../text/page-token.ts';
import { inviteView, inviteViews, receiptView, seenBoards } from '../views/invite.ts';
import { boardsOf, inviteById, listInviteRows, receiptOfKey } from './invites.store.ts';
import { inviteNotFound } from './refusals.rules.ts';

/** Newest first; also after losing the admin role. */
export const listInvites: ReadCase<'listInvites'>['run'] = async (tx, caller, { query }) => {
  const after = readPageToken(query.after);
  const rows = await listInviteRows(tx, caller.person.person_id, query.state, (all) =>
    pageFrom(all, 'server_invites', after, query.limit, 'desc'),
  );
  const { page, next_after } = cutPage(rows, query.limit);
  return { invites: await inviteViews(tx, caller, page), next_after };
};

export const getInvite: ReadCase<'getInvite'>['run'] = async (tx, caller, { params }) => {
  const invite = await inviteById(tx, params.invite);
  if (invite?.created_by !== caller.person.person_id) throw inviteNotFound();
  return inviteView(tx, caller, invite);
};

/** Only the key that the connect made has one; boards are named while they are visible. */
export const getOnboardingReceipt: ReadCase<'getOnboardingReceipt'>['run'] = async (tx, caller, { deps: { info } }) => {
  const receipt = await receiptOfKey(tx, caller.key.key_id);
  if (!receipt) {
    throw new Refusal('not_found', 'This key was not made by a connect that left a receipt.', {
      hint: 'service whoami shows who the key belongs to.',
    });
  }
  const seen = await seenBoards(tx, caller, boardsOf(receipt));
  const work = await pairingOfInvite(tx, caller, receipt.invite_id);
  return receiptView(info.server_id, receipt, new Set([...seen, ...(work === undefined ? [] : [work])]));
};
