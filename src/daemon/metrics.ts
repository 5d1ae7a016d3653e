/** Counts and times for `status`. */

const MAX_SAMPLES = 500;

const counters = [
  'handed',
  'confirmed',
  'redelivered',
  'attention',
  'acked',
  'ack_failures',
  'wakes',
  'turn_starts',
  'boundaries',
  'notices',
  'nudges',
  'wake_echo_missing',
  'uncaught_errors',
] as const;
/** The names of all numbers in `status`. */
export const metrics = [
  ...counters,
  'hook_p95_ms',
  'deliver_p50_ms',
  'deliver_p95_ms',
  'reconnects',
  'journal_bytes',
] as const;
type Counter = (typeof counters)[number];

export class Metrics {
  readonly #counts = new Map<Counter, number>(counters.map((name) => [name, 0]));
  readonly #hooks: number[] = [];
  readonly #deliveries: number[] = [];

  count(name: Counter, by = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by);
  }

  /** Adds how long a hook waited for its answer, in milliseconds. */
  addHook(ms: number): void {
    addSample(this.#hooks, ms);
  }

  /** Adds the delay between a message's `at` and its delivery to an idle session, in milliseconds. */
  addDelivery(ms: number): void {
    addSample(this.#deliveries, ms);
  }

  values(): Record<string, number> {
    return {
      ...Object.fromEntries(this.#counts),
      hook_p95_ms: percentile(this.#hooks, 0.95),
      deliver_p50_ms: percentile(this.#deliveries, 0.5),
      deliver_p95_ms: percentile(this.#deliveries, 0.95),
    };
  }
}

function addSample(samples: number[], ms: number): void {
  samples.push(Math.round(ms * 10) / 10);
  if (samples.length > MAX_SAMPLES) samples.shift();
}

function percentile(samples: readonly number[], part: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
