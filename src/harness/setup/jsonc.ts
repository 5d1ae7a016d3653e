/** JSON with comments and trailing commas, as a tree that says where in the text each value stands. */
import { type Node, type ParseError, parseTree, visit } from 'jsonc-parser';

const options = { allowTrailingComma: true };

/** The tree of a text. @throws SyntaxError for invalid JSON, or where an object has two members of one name */
export function parseJsonc(text: string): Node {
  const errors: ParseError[] = [];
  const root = parseTree(withoutMark(text), errors, options);
  const invalidAt = errors[0]?.offset ?? (root ? repeatedName(root)?.offset : 0);
  if (!root || invalidAt !== undefined) throw new SyntaxError(`not JSON at character ${invalidAt}`);
  return root;
}

/** A byte order mark is not part of the JSON. A space in its place keeps all offsets. */
const withoutMark = (text: string): string => text.replace(/^\ufeff/, ' ');

/** Programs differ in which of two members of one name they read, so such a text is not changed. */
function repeatedName(node: Node): Node | undefined {
  const names = new Set<string>();
  for (const child of node.children ?? []) {
    const name = child.type === 'property' ? (child.children![0]!.value as string) : null;
    if (name !== null && names.has(name)) return child;
    if (name !== null) names.add(name);
    const inner = repeatedName(child);
    if (inner) return inner;
  }
  return undefined;
}

/** Behind the last character of a node. */
export const endOf = ({ offset, length }: Node): number => offset + length;

/** The members of an object by name; none for anything else. */
export const membersOf = (node: Node | undefined): [name: string, value: Node][] =>
  node?.type === 'object' ? node.children!.map(({ children }) => [children![0]!.value as string, children![1]!]) : [];

/** The items of an array; none for anything else. */
export const itemsOf = (node: Node | undefined): Node[] => (node?.type === 'array' ? node.children! : []);

/** Behind the comma that follows the last entry of a list; null where there is none. */
export function trailingComma(text: string, list: Node): number | null {
  const from = endOf(list.children!.at(-1)!);
  let found: number | null = null;
  const onSeparator = (character: string, offset: number): void => {
    if (character === ',' && offset >= from && offset < endOf(list)) found ??= offset + 1;
  };
  visit(withoutMark(text), { onSeparator }, options);
  return found;
}
