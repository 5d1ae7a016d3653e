/** What machines and the people who look at their codes are told. */
import { Refusal } from '../../contract/errors.ts';

/** The one answer for a code or secret that is wrong, expired, decided, used up or somebody else's. */
export const machineRequestInvalid = (): Refusal =>
  new Refusal('machine_request_invalid', 'This code does not work.', {
    hint: 'Start again on the new machine: service machine request URL --handle HANDLE.',
  });

/** Seconds between two polls of a machine. */
export const POLL_SECONDS = 2;
