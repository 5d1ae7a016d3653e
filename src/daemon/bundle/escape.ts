/** Sender's text inside our tags: nothing in it may close one, open another, or act on a terminal. */

/** For attribute values: one line, at most 200 characters. */
export const attribute = (value: string): string => cut(oneLine(value), 200).replace(/[&<>"]/g, entity);

/** For our own lines that quote a sender: one line, at most 120 characters. */
export const quoted = (value: string): string => cut(oneLine(value), 120).replace(/[&<>"]/g, entity);

/**
 * For bodies: CRLF becomes LF, control and tag characters become U+FFFD, and whatever looks like the beginning or end
 * of a tag that means something to a reader loses its bracket. @param reserved further tag names, such as a harness's own.
 */
export function body(text: string, reserved: readonly string[] = []): string {
  const names = ['service-', ...reserved.map(literal)].join('|');
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(/[\0-\x08\x0b-\x1f\x7f-\x9f\u{e0000}-\u{e007f}]/gu, '\u{fffd}')
    .replaceAll(new RegExp(`<(?=\\s*/?\\s*(?:${names}))`, 'gi'), '&lt;');
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const entity = (character: string): string => entities[character] ?? character;
const oneLine = (value: string): string => value.replaceAll(/[\r\n\t\u2028\u2029]+/g, ' ');
const cut = (value: string, max: number): string => [...value].slice(0, max).join('');
const literal = (name: string): string => name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
