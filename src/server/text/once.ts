/** Within one snapshot the same question has the same answer. */

/** Calls `read` once for each key, and returns the same answer to later calls. */
export function once<A, T>(keyOf: (asked: A) => string, read: (asked: A) => Promise<T>): (asked: A) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (asked) => {
    const key = keyOf(asked);
    const before = known.get(key);
    if (before) return before;
    const now = read(asked);
    known.set(key, now);
    return now;
  };
}
