/** Versions in order. */

/** Compares `0.1.0` with `0.2.0`; a version that cannot be read is never older. */
export function olderThan(a: string, b: string): boolean {
  const [left, right] = [a, b].map((version) => /^(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number));
  if (!left || !right) return false;
  for (let i = 0; i < 3; i++) if (left[i] !== right[i]) return left[i]! < right[i]!;
  return false;
}
