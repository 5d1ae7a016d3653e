/** Reads the link of an invite, or a server's address, from an argument, standard input or a prompt. */
import { hasPipedInput, readWhole } from '../../../cli/stdin.ts';
import { onOneLine } from '../../../cli/terminal/fields.ts';
import { askSecret, mayAsk, missing } from '../../../cli/terminal/prompts.ts';
import { patterns } from '../../../contract/ids.ts';
import { readInviteLink } from '../../../contract/links.ts';
import type { Answer } from '../../../contract/types.ts';
import { Failure } from '../../../local/failure.ts';
import { canonicalOrigin } from '../../../local/origin.ts';
import { clientFor, type Deps } from '../../key/lib/pending-keys.ts';

export interface InviteLink {
  origin: string;
  secret: string;
}

/** The text itself, or for `-` what is piped in or typed unseen: in a shell's history a link could be read by others. */
export async function linkText(
  given: string | undefined,
  { out, noInput }: Pick<Deps, 'out' | 'noInput'>,
  command: string,
): Promise<string> {
  if (given !== undefined && given !== '-') return given;
  if (given === '-' && hasPipedInput(true)) return (await readWhole('-', out, 'an invite link')).trim();
  if (mayAsk(out, noInput)) return askSecret('Invite link');
  throw missing('The link of the invite', `Pipe it in: ${command} - < invite.txt`);
}

/** Whether somebody gave the address of a server and no invite. */
export function isBareAddress(text: string): boolean {
  return /^https?:\/\/[^/?#]+\/?$/.test(text.trim());
}

/** The link, with whatever stands around it. @throws Failure `invite_link_invalid`, `insecure_server`. */
export function inviteLink(text: string): InviteLink {
  const link = readInviteLink(/https?:\/\/\S+?#abi_[\w-]+/.exec(text)?.[0] ?? text);
  if (link) return { origin: canonicalOrigin(link.origin), secret: link.secret };
  throw new Failure('invite_link_invalid', 'That is not the link of an invite.', {
    hint: 'It looks like https://team.example.com/join#abi_…; ask for a new one if yours was cut off.',
  });
}

/**
 * What an invite leads to, in the words of the server that the link names.
 *
 * @throws Failure `invite_link_invalid` where that server says to be another one: a person would agree to the wrong one.
 */
export async function previewOf({ origin, secret }: InviteLink, deps: Deps): Promise<Answer<'previewInvite'>> {
  const { data } = await clientFor(origin, secret, deps).call('previewInvite');
  const says = String(data.server_url);
  if (originOf(says) !== origin) {
    const problem = `This link leads to ${origin}, but the server there says that it is ${onOneLine(says)}.`;
    throw new Failure('invite_link_invalid', `${problem} No account was made.`, {
      hint: 'Ask the person who invited you whether the link is theirs; if it is, they send one with the right address.',
    });
  }
  const { suggested_handle: handle, ...preview } = data;
  // It becomes an answer of the person, and part of commands they run.
  return handle !== undefined && patterns.handle.test(handle) ? data : preview;
}

function originOf(url: string): string | null {
  try {
    return canonicalOrigin(url);
  } catch {
    return null;
  }
}
