/** Limits how often agents' messages start a program, so that two programs cannot answer each other for ever. */
import { duration } from '../../../cli/terminal/time.ts';
import { usage } from '../../../local/failure.ts';

interface Limit {
  most: number;
  ms: number;
  /** As it is said. */
  text: string;
}

const USUAL = '30/10m';
/** How many may follow each other closely. */
const BURST = { most: 6, seconds: 10 };

export class RunLimit {
  readonly #limits: Limit[];
  readonly #now: () => number;
  /** When it was started, the oldest first. */
  #starts: number[] = [];

  /** @param text as `--max-runs` takes it. @throws Failure `invalid_request` (exit 2). */
  constructor(text: string = USUAL, now: () => number = () => performance.now()) {
    this.#limits = text === 'off' ? [] : limitsOf(text);
    this.#now = now;
  }

  /** Milliseconds until it may be started; 0: now. */
  waitMs(): number {
    return this.#full()?.waitMs ?? 0;
  }

  /** Which limit it has reached, such as `6 times in 10s`. */
  reached(): string {
    return this.#full()?.text ?? '';
  }

  started(): void {
    const longest = Math.max(0, ...this.#limits.map(({ ms }) => ms));
    this.#starts = [...this.#starts.filter((at) => at > this.#now() - longest), this.#now()];
  }

  /** Of the limits that are reached the one that lasts longest. */
  #full(): { waitMs: number; text: string } | undefined {
    const waits = this.#limits.map(({ most, ms, text }) => {
      const oldest = this.#starts.at(-most);
      return { waitMs: oldest === undefined ? 0 : Math.max(0, oldest + ms - this.#now()), text };
    });
    return waits.filter(({ waitMs }) => waitMs > 0).toSorted((a, b) => b.waitMs - a.waitMs)[0];
  }
}

function limitsOf(text: string): Limit[] {
  const [, count = '', while_ = ''] = /^(\d{1,6})\/(\w+)$/.exec(text) ?? [];
  const [most, seconds] = [Number(count), while_ && duration(while_, '--max-runs')];
  if (!most || !seconds)
    throw usage(`--max-runs takes a number of runs and a time such as 30/10m, or off, but got "${text}".`);
  const burst = Math.max(BURST.most, Math.ceil((most * BURST.seconds) / seconds));
  return [
    { most: burst, ms: BURST.seconds * 1000, text: `${burst} times in ${BURST.seconds}s` },
    { most, ms: seconds * 1000, text: `${most} times in ${while_}` },
  ];
}
