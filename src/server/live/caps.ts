/** How many streams and waits may be open at once. */
import { Refusal } from '../../contract/errors.ts';
import type { Holder } from './rights.ts';

const PER_CREDENTIAL = 32;
const PER_PERSON = 1_000;
const PER_SERVER = 10_000;

export class Caps {
  readonly #counts = new Map<string, number>();
  #all = 0;

  /**
   * Counts one more, until it is given back. @param holder null: somebody who has not signed in counts for the server only.
   * @throws Refusal `rate_limited`, `unavailable`.
   */
  take(holder: Holder | null): void {
    const keys = keysOf(holder);
    if (this.#all >= PER_SERVER)
      throw new Refusal('unavailable', 'The server has no room for another stream.', soon(1));
    if (this.#count(keys[0]) >= PER_CREDENTIAL) throw tooMany('this credential', PER_CREDENTIAL);
    if (this.#count(keys[1]) >= PER_PERSON) throw tooMany('this person', PER_PERSON);
    this.#all++;
    for (const key of keys) this.#counts.set(key, this.#count(key) + 1);
  }

  /** Counts off what was taken. */
  giveBack(holder: Holder | null): void {
    this.#all--;
    for (const key of keysOf(holder)) {
      const left = this.#count(key) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    }
  }

  #count(key: string | undefined): number {
    return this.#counts.get(key ?? '') ?? 0;
  }
}

const keysOf = (holder: Holder | null): string[] =>
  holder === null ? [] : [holder.credential.digest.toString('hex'), holder.personId];

const soon = (seconds: number) => ({
  hint: 'Close streams that are no longer read, or try again later.',
  retryAfter: seconds,
});

const tooMany = (whose: string, limit: number): Refusal =>
  new Refusal('rate_limited', `There are already ${limit} open streams and waits of ${whose}.`, {
    ...soon(5),
    details: { bucket: 'open_streams', retry_after_seconds: 5 },
  });
