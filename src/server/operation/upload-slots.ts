/** How many uploads may be in flight at once. These caps always hold, whatever the rates are set to. */
import { Refusal } from '../../contract/errors.ts';
import type { Credential } from './caller.ts';

const PER_CREDENTIAL = 8;
const PER_PROCESS = 64;
const RETRY_SECONDS = 5;

export class UploadSlots {
  readonly #counts = new Map<string, number>();
  #all = 0;

  /** @returns a function that frees the place. @throws Refusal `rate_limited`. */
  take({ digest }: Credential): () => void {
    const key = digest.toString('hex');
    const own = this.#counts.get(key) ?? 0;
    if (own >= PER_CREDENTIAL) throw tooMany(`${PER_CREDENTIAL} uploads of this credential`);
    if (this.#all >= PER_PROCESS) throw tooMany(`${PER_PROCESS} uploads`);
    this.#counts.set(key, own + 1);
    this.#all++;
    return () => {
      this.#all--;
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    };
  }
}

const tooMany = (what: string): Refusal =>
  new Refusal('rate_limited', `${what} are under way already.`, {
    hint: 'Upload again when one of them is done.',
    retryAfter: RETRY_SECONDS,
    details: { bucket: 'uploads_in_flight', retry_after_seconds: RETRY_SECONDS },
  });
