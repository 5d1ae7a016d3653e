/** Times on the wire: UTC with exactly three decimals. */

let lastMs = -1;
let lastText = '';

/** A time in milliseconds since the epoch as `YYYY-MM-DDTHH:mm:ss.sssZ`. */
export function timestamp(ms: number): string {
  if (ms !== lastMs) {
    lastMs = ms;
    lastText = new Date(ms).toISOString();
  }
  return lastText;
}

export const timestampOrNull = (ms: number | null): string | null => (ms === null ? null : timestamp(ms));
