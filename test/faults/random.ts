/** Chance that can be repeated: every run prints its seed, and SERVICE_TEST_SEED sets it. */

export interface Chance {
  readonly seed: number;
  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number;
  pick<T>(from: readonly T[]): T;
}

export function chance(seed = Number(process.env['SERVICE_TEST_SEED'] ?? Date.now() % 1_000_000_000)): Chance {
  let state = seed >>> 0;
  // Mulberry32: small and good enough to choose moments.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  const between = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return { seed, between, pick: (from) => from[between(0, from.length - 1)] as (typeof from)[number] };
}
