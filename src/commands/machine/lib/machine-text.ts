/** Formats a machine's request for a key. */
import { showTime } from '../../../cli/terminal/time.ts';
import type { Answer } from '../../../contract/types.ts';

type Request = Answer<'lookUpMachineRequest'>;

/** Who says it is whom, from where and since when: only the address and the time are the server's own knowledge. */
export function machineText({ label, requested_from, created_at }: Request, url: string): string {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(created_at)) / 1000));
  const age =
    seconds < 60 ? `${seconds} ${seconds === 1 ? 'second' : 'seconds'} ago` : showTime(created_at, 'relative');
  return `"${label}" (its own claim) asked from ${requested_from}, ${age}, for a key of yours on ${url}.`;
}
