import { booleanFlag, required, WriteCommand } from '../../cli/base.ts';
import { flag, message, object, text } from '../../cli/shapes.ts';
import type { Message } from '../../contract/types.ts';
import { emojis, type ReactionName } from '../../contract/values.ts';
import { usage } from '../../local/failure.ts';
import { boardNamed, findMessage } from './lib/read/references.ts';

export const json = () => object({ message, reaction: text, removed: flag });

export default class BoardReact extends WriteCommand<typeof BoardReact> {
  static override boardFirst = true;
  static override aliases = ['react'];
  static override summary = 'React to a message';
  static override description =
    'With one of thumbsup 👍, check ✅, eyes 👀, heart ❤️, tada 🎉, question ❓, by name or as the character. A reaction wakes\nnobody and answers no question.';
  static override examples = ['service board react 6 thumbsup', 'service board react 6 👍 --remove'];
  static override seeAlso = ['board message', 'board post'];
  static override args = {
    message: required('The message: 6, general#6 or msg_…'),
    emoji: required('The reaction: thumbsup, check, eyes, heart, tada or question'),
  };
  static override flags = { remove: booleanFlag('Take the reaction back') };

  override async run(): Promise<void> {
    const { name, emoji } = reactionNamed(this.args.emoji);
    const { remove = false } = this.flags;
    const session = await this.onBoard('A', { named: boardNamed(this.args.message) });
    const found = await findMessage(session, this.args.message);
    this.out.base.board = found.board;
    const { data: message, again } = await this.write(session.client, remove ? 'removeReaction' : 'addReaction', {
      params: { message: found.id, reaction: name },
    });
    this.print<typeof json>({ message, reaction: name, removed: remove }, () => {
      const done = remove ? `${emoji} removed from` : `${emoji} added to`;
      const all = reactionsText(message.reactions);
      return `${done} #${message.seq} on ${message.board}${all ? `: ${all}` : ''}${again}`;
    });
  }
}

/** What a person typed: a name, or the character itself with or without its variation selector. */
function reactionNamed(typed: string): { name: ReactionName; emoji: string } {
  const plain = (text: string) => text.replaceAll('\u{FE0F}', '');
  for (const [name, emoji] of Object.entries(emojis) as [ReactionName, string][]) {
    if (typed === name || plain(typed) === plain(emoji)) return { name, emoji };
  }
  throw usage(`"${typed}" is not one of the reactions.`, `Choose: ${Object.keys(emojis).join(', ')}`);
}

/** `👍 2 ✅ 1` */
const reactionsText = (reactions: Message['reactions']): string =>
  reactions.map(({ emoji, count }) => `${emoji} ${count}`).join(' ');
