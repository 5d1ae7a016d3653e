/** Removing a person from the server: their credentials and memberships end; their messages stay. */
import type { WriteCase } from '../operation/usecase.ts';
import { personView } from '../views/person.ts';
import { personNotFound } from './people.rules.ts';
import { lockPeople, personByHandle } from './people.store.ts';
import { removeFromServer } from './remove.steps.ts';

export const removePerson: WriteCase<'removePerson'> = {
  before: lockPeople,
  async run(tx, caller, { params, query: { dry_run }, requestId }) {
    const person = await personByHandle(tx, params['handle'] ?? '');
    if (!person) throw personNotFound();
    const counts = await removeFromServer(tx, person, { caller, requestId });
    return { answer: { person: personView(person), dry_run, ...counts }, tried: dry_run };
  },
};
