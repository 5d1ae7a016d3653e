/**
 * Additions to and removals from a JSON text, as cuts and insertions of text: no other byte changes. The parser's own
 * `modify` moves or drops comments beside a change, and reformats a text that stands on one line.
 */
import { findNodeAtLocation, type Node } from 'jsonc-parser';
import { endOf, parseJsonc, trailingComma } from './jsonc.ts';

/** The layout of a text. */
interface Style {
  indent: string;
  newline: string;
}

interface Insertion {
  text: string;
  /** The exact inserted text; removing it restores the original. */
  inserted: string;
}

/** The indentation and line ends of a text; two spaces by default. */
export function styleOf(text: string): Style {
  const [, indent] = /\n([ \t]+)["\]}[{]/.exec(text) ?? [];
  return { indent: indent ?? '  ', newline: text.includes('\r\n') ? '\r\n' : '\n' };
}

/** Appends a member to an object of the text. */
export function addMember(text: string, object: Node, name: string, value: unknown, depth: number): Insertion {
  const style = styleOf(text);
  return append(text, object, `${JSON.stringify(name)}: ${formatValue(value, depth + 1, style)}`, depth, style);
}

/** Appends an entry to an array of the text. */
export function addItem(text: string, array: Node, value: unknown, depth: number): Insertion {
  const style = styleOf(text);
  return append(text, array, formatValue(value, depth + 1, style), depth, style);
}

/** After the last entry; in an empty list directly after the bracket, so that comments stay. */
function append(text: string, list: Node, entry: string, depth: number, { indent, newline }: Style): Insertion {
  const last = list.children!.at(-1);
  const line = `${newline}${indent.repeat(depth + 1)}${entry}`;
  if (!last) return insert(text, list.offset + 1, `${line}${newline}${indent.repeat(depth)}`);
  const comma = trailingComma(text, list);
  return comma === null ? insert(text, endOf(last), `,${line}`) : insert(text, comma, line);
}

const insert = (text: string, at: number, inserted: string): Insertion => ({
  text: text.slice(0, at) + inserted + text.slice(at),
  inserted,
});

/** A value as text, its later lines at the depth where it stands. */
export function formatValue(value: unknown, depth: number, { indent, newline }: Style): string {
  const lines = JSON.stringify(value, null, indent).split('\n');
  return lines.join(`${newline}${indent.repeat(depth)}`);
}

/** The text with a node replaced. */
export const replaced = (text: string, node: Node, by: string): string =>
  text.slice(0, node.offset) + by + text.slice(endOf(node));

/** The text without one entry of a list, and without the comma that only it needed. */
export function withoutEntry(text: string, list: Node, entry: Node): string {
  const entries = list.children!;
  const index = entries.indexOf(entry);
  const [before, after] = [entries[index - 1], entries[index + 1]];
  if (before) return text.slice(0, endOf(before)) + text.slice(endOf(entry));
  if (after) return text.slice(0, entry.offset) + text.slice(after.offset);
  // The last entry also removes the line that was added for it.
  const from = text.slice(0, entry.offset).trimEnd().length;
  const kept = text.slice(list.offset + 1, entry.offset).trim() === '' ? from : entry.offset;
  const end = trailingComma(text, list) ?? endOf(entry);
  const close = text.slice(end, endOf(list) - 1).trim() === '' ? endOf(list) - 1 : end;
  return text.slice(0, kept) + text.slice(close);
}

/** The text without the containers at these paths that are empty now, innermost first. */
export function withoutEmpty(text: string, paths: readonly string[]): string {
  const deepest = paths.toSorted((a, b) => b.split('.').length - a.split('.').length);
  return deepest.reduce((current, path) => {
    const node = findNodeAtLocation(parseJsonc(current), path.split('.'));
    const member = node?.parent;
    return member?.parent && isEmpty(current, node!) ? withoutEntry(current, member.parent, member) : current;
  }, text);
}

/** Whether a container has neither entries nor comments. */
export function isEmpty(text: string, node: Node): boolean {
  return node.children !== undefined && text.slice(node.offset + 1, endOf(node) - 1).trim() === '';
}
