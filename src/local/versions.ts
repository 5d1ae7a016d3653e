/** Parses and compares versions. */

/** Whether `a` is older than `b`, by semantic versioning; false if one is invalid. */
export function olderThan(a: string, b: string): boolean {
  const [left, right] = [parse(a), parse(b)];
  if (!left || !right) return false;
  for (let i = 0; i < 3; i++) if (left.numbers[i] !== right.numbers[i]) return left.numbers[i]! < right.numbers[i]!;
  return comesBefore(left.draft, right.draft);
}

/** The version in a line such as `2.1.197 (Claude Code)`; null if there is none. */
export function versionIn(text: string): string | null {
  return /(?<![\w.])v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)/.exec(text)?.[1] ?? null;
}

interface Parsed {
  numbers: number[];
  /** The part after the hyphen of a pre-release. */
  draft: string[];
}

function parse(version: string): Parsed | null {
  const found = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?/.exec(version);
  return found && { numbers: found.slice(1, 4).map(Number), draft: found[4]?.split('.') ?? [] };
}

/** A pre-release comes before its release, a shorter one before a longer one, numbers before words. */
function comesBefore(a: string[], b: string[]): boolean {
  if (a.length === 0 || b.length === 0) return a.length > b.length;
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const [left, right] = [a[i], b[i]];
    if (left === right) continue;
    if (left === undefined || right === undefined) return left === undefined;
    const numbers = [left, right].map((part) => /^\d+$/.test(part));
    if (numbers[0] && numbers[1]) return Number(left) < Number(right);
    return numbers[0] === numbers[1] ? left < right : numbers[0]!;
  }
  return false;
}
