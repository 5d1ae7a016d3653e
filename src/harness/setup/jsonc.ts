/**
 * JSON with comments and trailing commas, read with the place of every value, so that a text can be changed without
 * touching any other byte of it.
 */

interface Span {
  start: number;
  /** Behind the last character. */
  end: number;
}

export interface ObjectNode extends Span {
  kind: 'object';
  members: Member[];
  /** Behind the comma that follows the last member, where there is one. */
  comma: number | null;
}

export interface ArrayNode extends Span {
  kind: 'array';
  items: Node[];
  comma: number | null;
}

export interface ScalarNode extends Span {
  kind: 'scalar';
  value: string | number | boolean | null;
}

export type Node = ObjectNode | ArrayNode | ScalarNode;

/** `start` is that of the name, `end` that of the value. */
export interface Member extends Span {
  name: string;
  value: Node;
}

/** The tree of a text. @throws SyntaxError where it is none, or a name stands twice in one object. */
export function parseJsonc(text: string): Node {
  return new Parser(text).whole();
}

/** What a node stands for, as JSON.parse would give it. */
export function readNode(node: Node): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'array') return node.items.map(readNode);
  return Object.fromEntries(node.members.map(({ name, value }) => [name, readNode(value)]));
}

/** The member of this name. */
export const memberOf = (node: Node | undefined, name: string): Member | undefined =>
  node?.kind === 'object' ? node.members.find((member) => member.name === name) : undefined;

/** Deeper nesting is no settings file. */
const DEEPEST = 100;

class Parser {
  private at = 0;
  private depth = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
    if (text.startsWith('\ufeff')) this.at = 1;
  }

  whole(): Node {
    this.space();
    const node = this.value();
    this.space();
    if (this.at < this.text.length) this.fail();
    return node;
  }

  private value(): Node {
    const character = this.text[this.at];
    if (character === '{') return this.nested(() => this.object());
    if (character === '[') return this.nested(() => this.array());
    return this.scalar();
  }

  private nested<T>(read: () => T): T {
    if (++this.depth > DEEPEST) this.fail();
    const node = read();
    this.depth--;
    return node;
  }

  private object(): ObjectNode {
    const start = this.at++;
    const members: Member[] = [];
    const comma = this.list('}', () => {
      const from = this.at;
      const name = this.string();
      if (members.some((member) => member.name === name)) this.fail();
      this.space();
      if (this.text[this.at++] !== ':') this.fail();
      this.space();
      const value = this.value();
      members.push({ start: from, end: value.end, name, value });
    });
    return { kind: 'object', start, end: this.at, members, comma };
  }

  private array(): ArrayNode {
    const start = this.at++;
    const items: Node[] = [];
    const comma = this.list(']', () => void items.push(this.value()));
    return { kind: 'array', start, end: this.at, items, comma };
  }

  /** Reads entries up to the closing bracket; the place behind a comma that stands before it. */
  private list(close: string, entry: () => void): number | null {
    for (let comma: number | null = null; ; ) {
      this.space();
      if (this.text[this.at] === close) {
        this.at++;
        return comma;
      }
      entry();
      this.space();
      comma = null;
      if (this.text[this.at] === ',') comma = ++this.at;
      else if (this.text[this.at] !== close) this.fail();
    }
  }

  private scalar(): ScalarNode {
    const start = this.at;
    if (this.text[start] === '"') return { kind: 'scalar', start, value: this.string(), end: this.at };
    const [word] =
      /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/.exec(
        this.text.slice(start, start + 400),
      ) ?? [];
    if (word === undefined) this.fail();
    this.at += word!.length;
    return { kind: 'scalar', start, end: this.at, value: JSON.parse(word!) as number | boolean | null };
  }

  private string(): string {
    const pattern = /"(?:[^"\\\u0000-\u001f]|\\.)*"/y;
    pattern.lastIndex = this.at;
    const [quoted] = pattern.exec(this.text) ?? [];
    if (quoted === undefined) this.fail();
    this.at += quoted!.length;
    return JSON.parse(quoted!) as string;
  }

  /** Blanks and comments. */
  private space(): void {
    const pattern = /(?:[ \t\r\n]+|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/y;
    pattern.lastIndex = this.at;
    this.at += pattern.exec(this.text)![0].length;
  }

  private fail(): never {
    throw new SyntaxError(`not JSON at character ${this.at}`);
  }
}
