/** How many uploads may be in flight at once. These caps always hold, whatever the rates are set to. */
import { Refusal } from '../../contract/errors.ts';
import type { Caller } from './caller.ts';

const PER_CREDENTIAL = 8;
/** With all their agents: half of all places, so that nobody can keep everybody else out. */
const PER_PERSON = 32;
const PER_PROCESS = 64;
const RETRY_SECONDS = 5;

/** What takes a place for an upload until the function that it returns is called. It throws Refusal `rate_limited`. */
export function uploadSlots(): (caller: Caller) => () => void {
  const taken = new Set<Place>();
  return ({ credential, person }) => {
    const place = { credential: credential.digest.toString('hex'), person: person.person_id };
    const like = (name: keyof Place) => [...taken].filter((each) => each[name] === place[name]).length;
    if (like('credential') >= PER_CREDENTIAL) throw tooMany(`${PER_CREDENTIAL} uploads of this credential`);
    if (like('person') >= PER_PERSON) throw tooMany(`${PER_PERSON} uploads of this person`);
    if (taken.size >= PER_PROCESS) throw tooMany(`${PER_PROCESS} uploads`);
    taken.add(place);
    return () => void taken.delete(place);
  };
}

type Place = Record<'credential' | 'person', string>;

const tooMany = (what: string): Refusal =>
  new Refusal('rate_limited', `${what} are under way already.`, {
    hint: 'Upload again when one of them is done.',
    retryAfter: RETRY_SECONDS,
    details: { bucket: 'uploads_in_flight', retry_after_seconds: RETRY_SECONDS },
  });
