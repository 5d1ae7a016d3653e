/** Sender's text inside our tags: nothing in it may close one, open another, or act on a terminal. */

/** For attribute values: one line, at most 200 characters. */
export const attribute = (value: string): string => cut(oneLine(value), 200).replace(/[&<>"]/g, entity);

/** For our own lines that quote a sender: one line, at most 120 characters. */
export const quoted = (value: string): string => cut(oneLine(value), 120).replace(/[&<>"]/g, entity);

/** For an argument in a command that we propose: one word to every shell, whatever stands in it. */
export function shellWord(value: string): string {
  const line = quoted(value);
  return /^[A-Za-z0-9_./:@=-]+$/.test(line) ? line : `'${line.replaceAll("'", "'\\''")}'`;
}

/** How many bytes a text has in UTF-8. */
export const bytesOf = (text: string): number => encoder.encode(text).length;

/** The beginning of a text in at most so many bytes; a character cut in half is left out. */
export function firstBytes(text: string, bytes: number): string {
  const all = encoder.encode(text);
  if (all.length <= bytes) return text;
  return new TextDecoder().decode(all.subarray(0, bytes)).replace(/\u{fffd}$/u, '');
}

const encoder = new TextEncoder();

/**
 * For bodies: CRLF becomes LF, control and tag characters become U+FFFD, and whatever looks like the beginning or end
 * of a tag that means something to a reader loses its bracket. @param reserved further tag names, such as a harness's own.
 */
export function body(text: string, reserved: readonly string[] = []): string {
  const names = ['service-', ...reserved.map(literal)].join('|');
  return harmless(text.replaceAll('\r\n', '\n')).replaceAll(new RegExp(`<(?=\\s*/?\\s*(?:${names}))`, 'gi'), '&lt;');
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const entity = (character: string): string => entities[character] ?? character;
const oneLine = (value: string): string => harmless(value.replaceAll(/[\r\n\t\u2028\u2029]+/g, ' '));
/** What acts on a terminal, or is not seen, becomes a character that is. */
const harmless = (value: string): string =>
  value.replaceAll(/[\0-\x08\x0b-\x1f\x7f-\x9f\u{e0000}-\u{e007f}]/gu, '\u{fffd}');
const cut = (value: string, max: number): string => [...value].slice(0, max).join('');
const literal = (name: string): string => name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
