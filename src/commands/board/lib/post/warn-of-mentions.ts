/** Warns who posts a text that names nobody of the board: a mention is how a message to everyone wakes an agent. */
import type { Output } from '../../../../cli/output.ts';
import { type BoardSession, staying } from '../../../../cli/session/open-session.ts';
import type { Message } from '../../../../contract/types.ts';
import { mentionsIn } from '../../../../contract/waking.ts';

/** How many names are told: a log may be full of what looks like mentions. */
const SHOWN = 5;

/** The server mentions every member that a text names, but not the sender: any other name is nobody's. */
export function warnOfMentions({ body, mentions, from, board }: Message, session: BoardSession, out: Output): void {
  if (!body.includes('@')) return;
  const known = new Set([from.name, ...mentions.map(({ name }) => name)].map((name) => `@${name}`));
  // What stands before a path, such as that of a package, is hardly meant as a mention.
  const named = mentionsIn(body.replaceAll(/@[\w-]+\/\S*/g, '')).filter((target) => target.startsWith('@'));
  const nobody = [...new Set(named)].filter((target) => !known.has(target));
  if (nobody.length === 0) return;
  const more = nobody.length > SHOWN ? ` and ${nobody.length - SHOWN} more` : '';
  const names = `${nobody.slice(0, SHOWN).join(', ')}${more}`;
  out.warn(
    'unknown_mention',
    `${names} ${nobody.length === 1 ? 'is' : 'are'} nobody on ${board}, so no mention.`,
    `service board members${staying(session)} shows who is`,
  );
}
