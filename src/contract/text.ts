/** Makes untrusted text safe to print to a terminal, a pipe or a page and to type in a shell, measures it, and makes names of it. */

/** Runs of C0 except LF and TAB, of DEL, C1, the bidirectional controls and the tag characters; short ones, so that none takes much memory. */
const acting = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]{1,1000}/gu;

/** Cache of escaped characters: there are about three hundred, and a hostile text is full of them. */
const known = new Map<string, string>();

function visible(found: string): string {
  const shown = known.get(found) ?? escapeOf(found);
  known.set(found, shown);
  return shown;
}

function escapeOf(found: string): string {
  const code = found.codePointAt(0) as number;
  const hex = code.toString(16);
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`;
}

/**
 * A text in which control characters are shown instead of obeyed: `\x1b` for ESC (and so for every escape sequence,
 * OSC 8 and 52 included), `\u202e` and `\u{e0041}` for the invisible ones beyond it. CRLF becomes LF. A backslash stays
 * as it is: the result is for reading, not for reading back.
 */
export function escapeUntrusted(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(acting, (run) => Array.from(run, visible).join(''));
}

/** A text as POSIX shells read one argument. @param plain what needs no quotes; null: all get them. */
export const shellArgument = (text: string, plain: RegExp | null = /^[\w./:@=,-]+$/): string =>
  plain?.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** How many Unicode code points a text has. */
export function codePoints(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff && i + 1 < text.length) i++;
    count++;
  }
  return count;
}

/** Most code points a message body may have; one more is 413 `message_too_large`. */
export const MAX_BODY = 32_768;

/** The text as a handle or key name of at most 40 characters; empty if no valid character remains. */
export const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');
