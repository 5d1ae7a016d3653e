/** What requests about the people of a server are refused with. */
import { Refusal } from '../../contract/errors.ts';

/** The one answer for a person who is not there, or whom the caller may not look up. */
export const personNotFound = (): Refusal =>
  new Refusal('person_not_found', 'There is no such person on this server.', {
    hint: 'service people list shows who is here.',
  });

export const lastAdmin = ({ handle }: { handle: string }): Refusal =>
  new Refusal('last_admin', `${handle} is the only admin, and the server keeps one.`, {
    hint: 'Make somebody else an admin first: service people role HANDLE admin',
  });
