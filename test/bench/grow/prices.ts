/** Prices from sums: those that are not negative and explain best what several purchases cost. */

export interface Purchase {
  /** How many were bought of each thing. */
  counts: readonly number[];
  sum: number;
}

const STEPS = 20_000;

/**
 * Least squares of the relative errors without negative prices, by coordinate descent: each price in turn is set to the best there is
 * while the others stay (Franc, Hlaváč, Navara: Sequential coordinate-wise algorithm for the non-negative least squares problem, 2005).
 */
export function pricesOf(purchases: readonly Purchase[]): number[] {
  const rows = purchases.filter(({ sum }) => sum > 0).map(({ counts, sum }) => counts.map((count) => count / sum));
  const prices = (purchases[0]?.counts ?? []).map(() => 0);
  // What is left of each sum, as a part of it.
  const rest = rows.map(() => 1);
  for (let step = 0; step < STEPS; step++) {
    prices.forEach((price, n) => {
      const square = rows.reduce((sum, row) => sum + row[n]! ** 2, 0);
      if (square === 0) return;
      const change = rows.reduce((sum, row, k) => sum + row[n]! * rest[k]!, 0) / square;
      const better = Math.max(price + change, 0);
      rows.forEach((row, k) => {
        rest[k]! -= (better - price) * row[n]!;
      });
      prices[n] = better;
    });
  }
  return prices;
}
