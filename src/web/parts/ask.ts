/** Texts about an ask: its question, and what happens without an answer. */
import type { Message } from '../../contract/types.ts';
import { excerpt, plainText } from './plain-text.ts';
import { until } from './time.tsx';

const isBalanced = (text: string, mark: string): boolean => text.split(mark).length % 2 === 1;

/** The longest text that is short, in characters. */
const MAX_SHORT = 300;

/** Whether a Markdown text is short and has nothing but paragraphs, so that plain text says the same. */
const isShort = (text: string): boolean =>
  text.length <= MAX_SHORT && !/^( {4}|\t| {0,3}([>|]|([-*+]|#{1,6}|\d+[.)])\s|```|~~~|:?-+:? *\|)|.*~~)/m.test(text);

/** Whether a Markdown text has a link or an image, of which plain text shows no address. */
const hasAddress = (text: string): boolean => /\][(:]/.test(text);

/** The number of the line that asks: the first one outside of code with a question mark, else the first. */
function askingLine(lines: readonly string[]): number {
  let inCode = false;
  const at = lines.findIndex((line) => {
    if (/^\s*(```|~~~)/.test(line)) inCode = !inCode;
    return !inCode && ASKED.test(line);
  });
  return Math.max(at, 0);
}

/** A question mark at the end of words, with the signs that close emphasis or quotes after it. */
const ASKED = /\?[*_)"”]*(?=\s|$)/;

/** Lines that belong to no paragraph: empty ones, headings, rules, rows of a table, and where code begins or ends. */
const ALONE = /^\s*($|```|~~~|\||#{1,6}\s|([-=*_])\2{2,}\s*$)/;
const QUOTE = /^\s*>/;
const ITEM = /^\s*([-*+]|\d+[.)])\s/;

/** Whether a line goes on with the paragraph of the line before. After a list, only an indented one or one amid a sentence does. */
function goesOn(line: string, before: string): boolean {
  if ([line, before].some((each) => ALONE.test(each)) || ITEM.test(line) || QUOTE.test(line) !== QUOTE.test(before))
    return false;
  return /^\s/.test(before) || ITEM.test(before) ? /^(\s|\p{Ll})/u.test(line) : true;
}

/** Where the paragraph of the asking line begins, and the line after its end. */
function askingParagraph(lines: readonly string[]): { start: number; end: number } {
  const at = askingLine(lines);
  let [start, end] = [at, at + 1];
  while (start > 0 && goesOn(lines[start]!, lines[start - 1]!)) start--;
  while (end < lines.length && goesOn(lines[end]!, lines[end - 1]!)) end++;
  return { start, end };
}

/** The question of an ask as plain text, and the rest, which is all of it where the question is not whole. */
export function questionOf({ body }: Pick<Message, 'body'>): { question: string; rest: string } {
  const lines = body.trim().split('\n');
  const { start, end } = askingParagraph(lines);
  const paragraph = lines.slice(start, end).join('\n');
  const mark = ASKED.exec(paragraph);
  const head = mark ? paragraph.slice(0, mark.index + mark[0].length) : paragraph;
  // Cutting at the question mark must not split Markdown emphasis, code or links.
  const cut = ['`', '*', '_', '['].every((sign) => isBalanced(head, sign)) ? head : paragraph;
  const question = excerpt(cut, MAX_SHORT) || excerpt(body, MAX_SHORT);
  if (cut.length > MAX_SHORT || plainText(cut) === '' || hasAddress(cut)) return { question, rest: body };
  const parts = [...lines.slice(0, start), paragraph.slice(cut.length).trim(), ...lines.slice(end)];
  return { question, rest: parts.join('\n').trim() };
}

/** Splits an ask before the paragraph with its question, unless what follows from there is long or not plain. */
export function splitAsk(body: string): { before: string; asking: string } {
  const lines = body.trimEnd().split('\n');
  const { start } = askingParagraph(lines);
  const asking = lines.slice(start).join('\n');
  // An indented paragraph belongs to the list before it.
  const apart = isShort(asking) && !/^\s/.test(asking);
  return apart ? { before: lines.slice(0, start).join('\n'), asking } : { before: body, asking: '' };
}

/** An ask in a few lines. */
export interface Brief {
  /** What it says before its question. */
  before?: string;
  title: string;
  /** What it says after it; `…` where it says more than fits. */
  rest: string;
  /** Whether this is all that it says, so that it can be answered from here. */
  whole: boolean;
}

export function briefOf({ body, files }: Pick<Message, 'body' | 'files'>): Brief {
  const { question, rest } = questionOf({ body });
  const whole = isShort(body) && !hasAddress(body) && files.length === 0;
  if (!whole) return { title: rest ? question.replace(/…$/, '') : question, rest: rest && '…', whole };
  // In the order of the message, in which the question may come last.
  const all = plainText(body);
  const at = all.indexOf(question);
  if (at < 0) return { title: all, rest: '', whole };
  return { before: all.slice(0, at).trim(), title: question, rest: all.slice(at + question.length).trim(), whole };
}

/** Only the question of an ask; `…` says that there is more. */
export const titleOf = ({ before, title, rest }: { title: string } & Partial<Brief>): string =>
  before || rest ? `${title} …` : title;

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
