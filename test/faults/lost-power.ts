/**
 * What a power cut leaves of a folder. A journal of everything that a program did there (see disk-journal.c) is played up
 * to a moment; what was flushed by then is there, and of the rest as much as chance wants: all, nothing, some of the
 * writes, or parts of them. Names that were made or removed are kept only once their folder was flushed; of the
 * others of one folder a first part is.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Chance } from './random.ts';

const HEAD = 32;
/** A disk writes this much at once, whole or not at all. */
const SECTOR = 512;

export const kinds = ['', 'create', 'write', 'truncate', 'flush', 'rename', 'link', 'unlink', 'mkdir'] as const;

export interface Change {
  /** When it began, in nanoseconds of the clock that `process.hrtime` reads. */
  at: bigint;
  kind: (typeof kinds)[number];
  path: string;
  /** The second path of a renaming or a link. */
  to: string;
  /** Where a write begins, or the size that a file is cut to. */
  offset: number;
  data: Buffer;
}

/** Reads a journal as disk-journal.c writes it. */
export function changesOf(journal: Buffer): Change[] {
  const changes: Change[] = [];
  for (let i = 0; i < journal.length; ) {
    const [kind, path, to, data] = [16, 20, 24, 28].map((n) => journal.readUInt32LE(i + n)) as [
      number,
      number,
      number,
      number,
    ];
    const words = i + HEAD;
    const end = words + path + to + data;
    changes.push({
      at: journal.readBigUInt64LE(i),
      kind: kinds[kind] as Change['kind'],
      path: journal.toString('utf8', words, words + path),
      to: journal.toString('utf8', words + path, words + path + to),
      offset: Number(journal.readBigUInt64LE(i + 8)),
      data: journal.subarray(end - data, end),
    });
    i = end;
  }
  return changes;
}

/** A file or a folder, whatever its names are. */
class Node {
  readonly folder: boolean;
  /** What the disk has for sure. */
  safe = Buffer.alloc(0);
  /** What was done to it since, in order. */
  loose: Pick<Change, 'kind' | 'offset' | 'data'>[] = [];

  constructor(folder: boolean) {
    this.folder = folder;
  }

  flush(): void {
    for (const change of this.loose) this.safe = changed(this.safe, change);
    this.loose = [];
  }

  /** What is left of it after a power cut. */
  left(luck: Chance): Buffer {
    const way = luck.pick(['nothing', 'all', 'some', 'parts'] as const);
    let content = this.safe;
    for (const change of this.loose) {
      if (way === 'nothing' || (way === 'some' && luck.between(0, 1) === 0)) continue;
      if (way !== 'parts' || change.kind === 'truncate') content = changed(content, change);
      else for (const part of sectorsOf(change)) if (luck.between(0, 1) === 0) content = changed(content, part);
    }
    return content;
  }
}

function changed(content: Buffer, { kind, offset, data }: Node['loose'][number]): Buffer<ArrayBuffer> {
  const size = kind === 'truncate' ? offset : Math.max(content.length, offset + data.length);
  const next = Buffer.alloc(size);
  content.copy(next);
  data.copy(next, offset);
  return next;
}

function sectorsOf({ kind, offset, data }: Node['loose'][number]): Node['loose'] {
  const parts: Node['loose'] = [];
  for (let from = 0; from < data.length; ) {
    const to = Math.min(data.length, from + SECTOR - ((offset + from) % SECTOR));
    parts.push({ kind, offset: offset + from, data: data.subarray(from, to) });
    from = to;
  }
  return parts;
}

/** A change of the names in one folder; null: the name is gone. */
type Naming = Map<string, Node | null>;

export class Disk {
  readonly #root: string;
  /** What the names mean to programs now. */
  readonly #names = new Map<string, Node>();
  readonly #safeNames = new Map<string, Node>();
  /** By folder: what was done to its names since it was flushed, in order. */
  readonly #loose = new Map<string, Naming[]>();

  /** @param root the folder, empty so far. */
  constructor(root: string) {
    this.#root = root;
  }

  run({ kind, path, to, offset, data }: Change): void {
    const node = this.#names.get(path);
    if (kind === 'mkdir') this.#name(new Map([[path, new Node(true)]]));
    else if (kind === 'create') this.#name(new Map([[path, new Node(false)]]));
    else if (kind === 'unlink') this.#name(new Map([[path, null]]));
    else if (kind === 'link') this.#name(new Map([[to, node as Node]]));
    else if (kind === 'rename')
      this.#name(
        new Map([
          [path, null],
          [to, node as Node],
        ]),
      );
    else if (kind === 'flush') this.#flush(path);
    // What has no name any more is of no interest.
    else node?.loose.push({ kind, offset, data: kind === 'write' ? data : Buffer.alloc(0) });
  }

  /** Writes what a power cut leaves now into another folder. */
  cut(target: string, luck: Chance): void {
    const names = new Map(this.#safeNames);
    for (const namings of this.#loose.values())
      for (const naming of namings.slice(0, luck.between(0, namings.length))) apply(names, naming);
    const left = new Map([...new Set(names.values())].map((node) => [node, node.folder ? null : node.left(luck)]));
    const reached = new Set([this.#root]);
    for (const path of [...names.keys()].sort()) {
      if (!reached.has(dirname(path))) continue;
      const content = left.get(names.get(path) as Node);
      const place = join(target, path.slice(this.#root.length));
      if (content) writeFileSync(place, content, { mode: 0o600 });
      else mkdirSync(place, { mode: 0o700 });
      if (!content) reached.add(path);
    }
  }

  #name(naming: Naming): void {
    apply(this.#names, naming);
    for (const folder of new Set([...naming.keys()].map((path) => dirname(path)))) {
      const own: Naming = new Map([...naming].filter(([path]) => dirname(path) === folder));
      this.#loose.set(folder, [...(this.#loose.get(folder) ?? []), own]);
    }
  }

  #flush(path: string): void {
    this.#names.get(path)?.flush();
    for (const naming of this.#loose.get(path) ?? []) apply(this.#safeNames, naming);
    this.#loose.delete(path);
  }
}

function apply(names: Map<string, Node>, naming: Naming): void {
  for (const [path, node] of naming) {
    if (node) names.set(path, node);
    else names.delete(path);
  }
}
