/** What invites are refused with. */
import { Refusal } from '../../contract/errors.ts';

/** The one answer for an invite that is unknown, used, revoked, expired, of another server, or has lost its authority. */
export const inviteInvalid = (): Refusal =>
  new Refusal('invite_invalid', 'This invite does not work.', {
    hint: 'Ask the person who sent it for a new one: service invite create.',
  });

/** The one answer for an invite that is missing or somebody else's. */
export const inviteNotFound = (): Refusal =>
  new Refusal('invite_not_found', 'You have no such invite.', { hint: 'service invite list shows yours.' });
