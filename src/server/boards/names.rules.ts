/** Finds a free name. */

/**
 * The first of base, base-2, base-3 … that is not taken, its base cut so that the result has at most `max` characters.
 * @param numbered counting starts with base-1 instead of the bare base.
 */
export function firstFree(base: string, taken: ReadonlySet<string>, max: number, numbered = false): string {
  for (let n = 1; ; n++) {
    const suffix = n === 1 && !numbered ? '' : `-${n}`;
    const name = base.slice(0, max - suffix.length).replace(/-+$/, '') + suffix;
    if (!taken.has(name)) return name;
  }
}
