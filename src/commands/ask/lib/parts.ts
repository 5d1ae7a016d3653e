/** Tells the words of `ask` apart: whom, what, and the options. */
import { quoted } from '../../../cli/parsing/errors.ts';
import { type BoardSession, staying } from '../../../cli/session/open-session.ts';
import { slug } from '../../../contract/text.ts';
import { usage } from '../../../local/failure.ts';
import { allMembers } from '../../board/lib/list.ts';

/** `[@NAME] QUESTION [OPTION…]`; without a question it is what is piped in. A target in its place would become what is asked. */
export function partsOf(words: readonly string[]) {
  const named = words[0]?.startsWith('@') === true && /^@[a-z0-9][a-z0-9-]*$/.test(words[0]);
  const [question, ...options] = named ? words.slice(1) : words;
  if (question !== undefined && /^(@\S*|all|(role|owner):\S*)$/.test(question)) {
    const name = question.startsWith('@') ? slug(question) : '';
    throw usage(
      `${question} is no question.`,
      `An ask goes to one member, named in lower case: service ask @${name || 'NAME'} "…"`,
    );
  }
  if (options.length > 4) throw usage('An ask has at most 4 options.');
  return { to: named ? words[0] : undefined, question, options };
}

/**
 * Refuses the name of a member without its `@` in the place of the question: the question would become an option, and
 * the agent's person would be asked.
 */
export async function refuseBareName(session: BoardSession, words: readonly string[]): Promise<void> {
  const [name = '', ...rest] = words;
  if (!/^[a-z0-9][a-z0-9-]*$/.test(name)) return;
  const members = await allMembers(session.client, session.board);
  if (!members.some((member) => member.name === name)) return;
  const question = rest.length === 0 ? '"…"' : rest.map(quoted).join(' ');
  throw usage(
    `${name} is a member of ${session.board}, not a question.`,
    `Name whom you ask with @: service ask @${name} ${question}${staying(session)}`,
  );
}
