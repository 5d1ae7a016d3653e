/** Shows an invite to a person who has its secret. */
import { patterns } from '../../contract/ids.ts';
import { unauthorized } from '../operation/caller.ts';
import { inviteRequired } from '../operation/gate.ts';
import type { OpenCase } from '../operation/usecase.ts';
import { requestOfInvite } from '../pairing/requests.store.ts';
import { stateAt } from '../pairing/subject.rules.ts';
import { timestamp } from '../text/time.ts';
import { serverName } from './address.rules.ts';
import { findRedeemable } from './authority.steps.ts';
import { promptOf } from './prompt.rules.ts';
import { inviteInvalid } from './refusals.rules.ts';

export const previewInvite: OpenCase<'previewInvite'> = {
  async run(tx, { bearer }, { deps: { root, info, address } }) {
    if (bearer === null) throw unauthorized();
    if (!patterns.invite.test(bearer)) throw inviteRequired();
    const found = await findRedeemable(tx, root.digest(bearer), false);
    if (!found) throw inviteInvalid();
    const { invite, issuer, boards } = found;
    const pairing = await requestOfInvite(tx, invite.id);
    // Work that was taken back is not proposed to anybody any more.
    const work = pairing && stateAt(pairing, tx.now) === 'awaiting_account' ? pairing.work : undefined;
    return {
      answer: {
        server_id: info.server_id,
        server_url: address.baseUrl(),
        server_name: serverName(address),
        inviter_handle: issuer.handle,
        boards: boards.map(({ board }) => ({ id: board.id, name: board.name, title: board.title })),
        ...(invite.suggested_handle === null ? {} : { suggested_handle: invite.suggested_handle }),
        ...(work === undefined ? {} : { work }),
        prompt: promptOf(address, invite, bearer, issuer.handle),
        expires_at: timestamp(invite.expires_at),
      },
    };
  },
};
