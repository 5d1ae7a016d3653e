/** Finds a free name. */

/** Most characters of a name. */
const MAX = 40;

/**
 * The first of base, base-2, base-3 … that is not taken, its base cut so that the result is not too long.
 * @param numbered counting starts with base-1 instead of the bare base.
 */
export function firstFree(base: string, taken: ReadonlySet<string>, numbered = false): string {
  for (let n = 1; ; n++) {
    const suffix = n === 1 && !numbered ? '' : `-${n}`;
    const name = base.slice(0, MAX - suffix.length).replace(/-+$/, '') + suffix;
    if (!taken.has(name)) return name;
  }
}
