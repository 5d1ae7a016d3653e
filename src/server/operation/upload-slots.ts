/** How many uploads may be in flight at once. These caps always hold, whatever the rates are set to. */
import { Refusal } from '../../contract/errors.ts';
import type { Credential } from './caller.ts';

const PER_CREDENTIAL = 8;
const PER_PROCESS = 64;
const RETRY_SECONDS = 5;

/** What takes a place for an upload until the function that it returns is called. It throws Refusal `rate_limited`. */
export function uploadSlots(): (credential: Credential) => () => void {
  const taken = new Set<{ key: string }>();
  return ({ digest }) => {
    const place = { key: digest.toString('hex') };
    const own = [...taken].filter(({ key }) => key === place.key).length;
    if (own >= PER_CREDENTIAL) throw tooMany(`${PER_CREDENTIAL} uploads of this credential`);
    if (taken.size >= PER_PROCESS) throw tooMany(`${PER_PROCESS} uploads`);
    taken.add(place);
    return () => void taken.delete(place);
  };
}

const tooMany = (what: string): Refusal =>
  new Refusal('rate_limited', `${what} are under way already.`, {
    hint: 'Upload again when one of them is done.',
    retryAfter: RETRY_SECONDS,
    details: { bucket: 'uploads_in_flight', retry_after_seconds: RETRY_SECONDS },
  });
