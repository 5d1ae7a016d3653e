/**
 * How long a test waits for what is to happen: long for a machine that is overloaded for a moment, and shorter than the limit
 * of a test in .mocharc.json, so that what did not come is named.
 */
export const PATIENCE_MS = 30_000;

/** Waiting for a condition instead of for a time. */
export async function until(holds: () => boolean | Promise<boolean>, what: string, ms = PATIENCE_MS): Promise<void> {
  const began = performance.now();
  while (!(await holds())) {
    const waited = performance.now() - began;
    if (waited > ms) throw new Error(`it did not come to this within ${ms} ms: ${what}`);
    // Asking is work for the processor too, and what has taken long may take a little longer.
    await new Promise((resolve) => setTimeout(resolve, Math.min(5 + waited / 10, 50)));
  }
}
