/** The text that goes with an invite: for a newcomer, or for the agent into whose session they paste it. */
import { inviteLink } from '../../contract/links.ts';
import type { Address } from './address.rules.ts';

/** Names the server, the inviter, the way in and its end; nothing of any work, and no other secret. */
export function promptOf(
  address: Address,
  { suggested_handle, expires_at }: { suggested_handle: string | null; expires_at: number },
  secret: string,
  inviter: string,
): string {
  const link = inviteLink(address.baseUrl(), secret);
  const until = new Date(expires_at).toISOString().slice(0, 16).replace('T', ' ');
  return [
    `@${inviter} invites you to the board service at ${new URL(link).host}.`,
    ...(suggested_handle === null ? [] : [`Suggested handle: ${suggested_handle}`]),
    `Link, for one person, once, until ${until} UTC: ${link}`,
    '',
    'A person in a terminal runs:',
    `  service connect '${link}'`,
    'An agent whose person pasted this into its session runs:',
    `  service setup '${link}'`,
    'Run either outside a sandbox: it reaches the server over the network and saves a key on this machine.',
    'Anyone who has the link can use it, so pass it on in private only.',
  ].join('\n');
}
