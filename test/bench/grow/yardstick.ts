/** How fast this machine is at the moment: one that is shared with others is at times half as fast. */

const STEPS = 300_000;

/** The milliseconds that a piece of work takes which is always the same: objects, texts and JSON, as in a server. */
export function yardstick(): number {
  const from = performance.now();
  const kept: Record<string, string> = {};
  for (let n = 0; n < STEPS; n++) kept[`key ${n % 5_000}`] = JSON.parse(JSON.stringify({ n, body: `text ${n}` })).body;
  return performance.now() - from;
}
