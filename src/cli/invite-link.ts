/** What a person hands to a command that takes an invite: the link, or the address of a server. */
import { readInviteLink } from '../contract/invite-link.ts';
import { Failure } from '../local/failure.ts';
import { canonicalOrigin } from '../local/origin.ts';
import type { Output } from './output.ts';
import { askSecret, mayAsk, missing } from './prompts.ts';
import { hasPipedInput, readWhole } from './stdin.ts';

export interface InviteLink {
  origin: string;
  secret: string;
}

/** The text itself, or for `-` what is piped in or typed unseen: in a shell's history a link could be read by others. */
export async function linkText(given: string | undefined, out: Output, noInput: boolean): Promise<string> {
  if (given !== undefined && given !== '-') return given;
  if (given === '-' && hasPipedInput()) return (await readWhole('-', out, 'an invite link')).trim();
  if (mayAsk(out, noInput)) return askSecret('Invite link');
  throw missing('The link of the invite', 'Pipe it in: service connect - < invite.txt');
}

/** Whether somebody gave the address of a server and no invite. */
export function isBareAddress(text: string): boolean {
  return /^https?:\/\/[^/?#]+\/?$/.test(text.trim());
}

/** @throws Failure `invite_link_invalid`, `insecure_server`. */
export function inviteLink(text: string): InviteLink {
  const link = readInviteLink(text);
  if (link) return { origin: canonicalOrigin(link.origin), secret: link.secret };
  throw new Failure('invite_link_invalid', 'That is not the link of an invite.', {
    hint: 'It looks like https://team.example.com/join#abi_…; ask for a new one if yours was cut off.',
    exit: 2,
  });
}
