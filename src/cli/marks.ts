/** Our own marks where the locale is not UTF-8: in ASCII, in all text that is printed. JSON stays as it is. */
import type { Env } from '../local/folders.ts';

const ascii: Record<string, string> = { '·': '-', '→': '->', '…': '...', '’': "'" };

/** Whether the terminal reads UTF-8. A locale that nobody named says nothing against it. */
function readsUtf8(env: Env): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG;
  return !locale || /utf-?8/i.test(locale);
}

/** A text with the marks this locale can show. */
export function marked(text: string, env: Env = process.env): string {
  return readsUtf8(env) ? text : text.replace(/[·→…’]/g, (mark) => ascii[mark]!);
}
