/** Texts about an ask: its question, and what happens without an answer. */
import type { Message } from '../../contract/types.ts';
import { excerpt, plainText } from './plain-text.ts';
import { until } from './time.tsx';

const isBalanced = (text: string, mark: string): boolean => text.split(mark).length % 2 === 1;

/** The longest text that is short, in characters. */
const MAX_SHORT = 300;

/** Whether a Markdown text is short and has nothing but paragraphs, so that plain text says the same. */
const isShort = (text: string): boolean =>
  text.length <= MAX_SHORT && !/^( {4}|\t| {0,3}([>|]|([-*+]|#{1,6}|\d+[.)])\s|```|~~~)|.*~~)/m.test(text);

/** The number of the line that asks: the first one outside of code with a question mark, else the first. */
function askingLine(lines: readonly string[]): number {
  let inCode = false;
  const at = lines.findIndex((line) => {
    if (/^\s*(```|~~~)/.test(line)) inCode = !inCode;
    return !inCode && /\?(\s|[*_)"”]*$)/.test(line);
  });
  return Math.max(at, 0);
}

/** The question of an ask as plain text, and the rest, which is all of it where the question is not whole. */
export function questionOf({ body }: Pick<Message, 'body'>): { question: string; rest: string } {
  const lines = body.trim().split('\n');
  const at = askingLine(lines);
  const line = lines[at] ?? '';
  const mark = /\?(?=\s)/.exec(line)?.index ?? -1;
  const head = mark < 0 ? line : line.slice(0, mark + 1);
  // Cutting at the question mark must not split Markdown emphasis, code or links.
  const cut = ['`', '*', '_', '['].every((sign) => isBalanced(head, sign)) ? head : line;
  const question = excerpt(cut, MAX_SHORT) || excerpt(body, MAX_SHORT);
  if (cut.length > MAX_SHORT || plainText(cut) === '') return { question, rest: body };
  const rest = [...lines.slice(0, at), line.slice(cut.length).trim(), ...lines.slice(at + 1)].join('\n').trim();
  return { question, rest };
}

/** Splits an ask into what comes before its question and all from there on, unless that is long or not plain. */
export function splitAsk(body: string): { before: string; asking: string } {
  const lines = body.trimEnd().split('\n');
  const at = askingLine(lines);
  const asking = lines.slice(at).join('\n');
  return isShort(asking) ? { before: lines.slice(0, at).join('\n'), asking } : { before: body, asking: '' };
}

/** An ask in a few lines. */
export interface Brief {
  title: string;
  /** What else it says; `…` where that is more than fits. */
  rest: string;
  /** Whether this is all that it says, so that it can be answered from here. */
  whole: boolean;
}

export function briefOf(message: Pick<Message, 'body'>): Brief {
  const { question, rest } = questionOf(message);
  const whole = isShort(message.body);
  const title = rest ? question.replace(/…$/, '') : question;
  return { title, rest: whole ? plainText(rest) : rest && '…', whole };
}

/** Only the question of an ask; `…` says that there is more. */
export const titleOf = ({ title, rest }: { title: string; rest?: string | undefined }): string =>
  rest ? `${title} …` : title;

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
