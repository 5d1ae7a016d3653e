/** The words of an ask: the question, what stands behind it, what it holds up and what happens without an answer. */
import type { Message } from '../../contract/types.ts';
import { plainText } from './plain-text.ts';
import { until } from './time.tsx';

const even = (text: string, mark: string): boolean => text.split(mark).length % 2 === 1;

/** The first line of an ask, up to its question mark, without marks; and the Markdown that follows it. */
export function questionOf({ body }: Pick<Message, 'body'>): { question: string; rest: string } {
  const text = body.trimStart();
  const end = text.indexOf('\n');
  const line = end < 0 ? text : text.slice(0, end);
  const mark = /\?(?=\s)/.exec(line)?.index ?? -1;
  const head = mark < 0 ? line : line.slice(0, mark + 1);
  // A mark of Markdown that is open at the question mark would be cut in two.
  const cut = ['`', '*', '_', '['].every((sign) => even(head, sign)) ? head : line;
  const question = plainText(cut) || plainText(text);
  return { question, rest: text.slice(cut.length).trim() };
}

/** "goes with 60 s in 22 min", "went with 60 s" or "blocks PAY-12"; null without either. */
export function stakesOf({ ask }: Message): string | null {
  if (!ask) return null;
  if (ask.going_with !== null) {
    const when = ask.going_at === null ? 'now' : until(ask.going_at);
    const words = ask.going_with.replaceAll(/(\d) /g, '$1\u00a0');
    return ask.state === 'went_with' || when === 'now' ? `went with ${words}` : `goes with ${words} in ${when}`;
  }
  return ask.blocking && ask.task ? `blocks ${ask.task.ref}` : null;
}
