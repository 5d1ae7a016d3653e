/** Reactions by name and as characters. */
import { emojis, type ReactionName } from '../../../contract/reactions.ts';
import type { Message } from '../../../contract/types.ts';
import { usage } from '../../../local/failure.ts';

/** What a person typed: a name, or the character itself with or without its variation selector. */
export function reactionNamed(typed: string): { name: ReactionName; emoji: string } {
  const plain = (text: string) => text.replaceAll('\u{FE0F}', '');
  for (const [name, emoji] of Object.entries(emojis) as [ReactionName, string][]) {
    if (typed === name || plain(typed) === plain(emoji)) return { name, emoji };
  }
  throw usage(`"${typed}" is not one of the reactions.`, `Choose: ${Object.keys(emojis).join(', ')}`);
}

/** `👍 2 ✅ 1` */
export const reactionsText = (reactions: Message['reactions']): string =>
  reactions.map(({ emoji, count }) => `${emoji} ${count}`).join(' ');
