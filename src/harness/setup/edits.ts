/** Additions to and removals from a JSON text, as cuts and insertions of text: no other byte changes. */
import { type ArrayNode, memberOf, type Node, type ObjectNode, parseJsonc } from './jsonc.ts';

/** How a text is laid out. */
export interface Style {
  indent: string;
  newline: string;
}

export interface Insertion {
  text: string;
  /** Exactly what was put in; taking it out again gives the text as it was. */
  inserted: string;
}

/** The indentation and line ends a text uses; two blanks where it has no lines. */
export function styleOf(text: string): Style {
  const [, indent] = /\n([ \t]+)["\]}[{]/.exec(text) ?? [];
  return { indent: indent ?? '  ', newline: text.includes('\r\n') ? '\r\n' : '\n' };
}

/** Appends a member to an object of the text. */
export function addMember(text: string, object: ObjectNode, name: string, value: unknown, depth: number): Insertion {
  const style = styleOf(text);
  return append(text, object, `${JSON.stringify(name)}: ${printed(value, depth + 1, style)}`, depth, style);
}

/** Appends an entry to an array of the text. */
export function addItem(text: string, array: ArrayNode, value: unknown, depth: number): Insertion {
  const style = styleOf(text);
  return append(text, array, printed(value, depth + 1, style), depth, style);
}

/** Behind the last entry; in an empty one right behind its bracket, so that what stands in there stays. */
function append(
  text: string,
  node: ObjectNode | ArrayNode,
  entry: string,
  depth: number,
  { indent, newline }: Style,
): Insertion {
  const last = node.kind === 'object' ? node.members.at(-1) : node.items.at(-1);
  const line = `${newline}${indent.repeat(depth + 1)}${entry}`;
  if (!last) return insert(text, node.start + 1, `${line}${newline}${indent.repeat(depth)}`);
  return node.comma === null ? insert(text, last.end, `,${line}`) : insert(text, node.comma, line);
}

const insert = (text: string, at: number, inserted: string): Insertion => ({
  text: text.slice(0, at) + inserted + text.slice(at),
  inserted,
});

/** A value as text, its later lines at the depth where it stands. */
export function printed(value: unknown, depth: number, { indent, newline }: Style): string {
  const lines = JSON.stringify(value, null, indent).split('\n');
  return lines.join(`${newline}${indent.repeat(depth)}`);
}

/** The text with other text in place of a node. */
export const replaced = (text: string, { start, end }: { start: number; end: number }, by: string): string =>
  text.slice(0, start) + by + text.slice(end);

/** The text without one entry of a list, and without the comma that only it needed. */
export function withoutEntry(text: string, node: ObjectNode | ArrayNode, index: number): string {
  const entries: { start: number; end: number }[] = node.kind === 'object' ? node.members : node.items;
  const [before, entry, after] = [entries[index - 1], entries[index]!, entries[index + 1]];
  if (before) return text.slice(0, before.end) + text.slice(entry.end);
  if (after) return text.slice(0, entry.start) + text.slice(after.start);
  // Alone, it also takes the line that was made for it along.
  const from = text.slice(0, entry.start).trimEnd().length;
  const kept = text.slice(node.start + 1, entry.start).trim() === '' ? from : entry.start;
  const end = node.comma ?? entry.end;
  const close = text.slice(end, node.end - 1).trim() === '' ? node.end - 1 : end;
  return text.slice(0, kept) + text.slice(close);
}

/** The node at the end of a path of names. */
export function at(root: Node, path: readonly string[]): Node | undefined {
  return path.reduce<Node | undefined>((node, name) => memberOf(node, name)?.value, root);
}

/** The text without the containers at these paths that are empty now, innermost first. */
export function withoutEmpty(text: string, paths: readonly string[]): string {
  const deepest = paths.toSorted((a, b) => b.split('.').length - a.split('.').length);
  return deepest.reduce((current, path) => {
    const names = path.split('.');
    const root = parseJsonc(current);
    const parent = at(root, names.slice(0, -1));
    const node = at(root, names);
    if (parent?.kind !== 'object' || !node || !isEmpty(current, node)) return current;
    return withoutEntry(
      current,
      parent,
      parent.members.findIndex(({ name }) => name === names.at(-1)),
    );
  }, text);
}

/** A container without entries, and without a comment of somebody. */
export function isEmpty(text: string, node: Node): boolean {
  if (node.kind === 'scalar') return false;
  return text.slice(node.start + 1, node.end - 1).trim() === '';
}
