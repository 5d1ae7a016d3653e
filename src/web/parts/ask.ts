/** Texts about an ask: its question, and what happens without an answer. */
import type { Message } from '../../contract/types.ts';
import { plainText } from './plain-text.ts';
import { until } from './time.tsx';

const isBalanced = (text: string, mark: string): boolean => text.split(mark).length % 2 === 1;

/** Splits an ask into its question as plain text (the first line with a question mark, else the first) and the rest. */
export function questionOf({ body }: Pick<Message, 'body'>): { question: string; rest: string } {
  const lines = body.trim().split('\n');
  // Question marks inside a code block do not count.
  const fence = lines.findIndex((line) => /^\s*(```|~~~)/.test(line));
  const asking = lines.findIndex((line, index) => /\?(\s|[*_)"”]*$)/.test(line) && (fence < 0 || index < fence));
  const at = Math.max(asking, 0);
  const line = lines[at] ?? '';
  const mark = /\?(?=\s)/.exec(line)?.index ?? -1;
  const head = mark < 0 ? line : line.slice(0, mark + 1);
  // Cutting at the question mark must not split Markdown emphasis, code or links.
  const cut = ['`', '*', '_', '['].every((sign) => isBalanced(head, sign)) ? head : line;
  const rest = [...lines.slice(0, at), line.slice(cut.length).trim(), ...lines.slice(at + 1)].join('\n').trim();
  return { question: plainText(cut) || plainText(body), rest };
}

/** "goes with 60 s in 22 min", "went with 60 s" or "blocks PAY-12"; null without either. */
export function consequenceOf({ ask }: Message): string | null {
  if (!ask) return null;
  if (ask.going_with !== null) {
    const when = ask.going_at === null ? 'now' : until(ask.going_at);
    const words = ask.going_with.replaceAll(/(\d) /g, '$1\u00a0');
    return ask.state === 'went_with' || when === 'now' ? `went with ${words}` : `goes with ${words} in ${when}`;
  }
  return ask.blocking && ask.task ? `blocks ${ask.task.ref}` : null;
}
