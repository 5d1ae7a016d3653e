/** Removing a person from the server: all they can act with ends, and they leave every board. Their messages stay. */
import type { WriteCase } from '../operation/usecase.ts';
import { audit } from '../record/audit.steps.ts';
import { personView } from '../views/person.ts';
import { lastAdmin, personNotFound, requireAdmin } from './people.rules.ts';
import { countAdmins, holdPeople, personByHandle } from './people.store.ts';
import { endPerson } from './remove.steps.ts';

export const removePerson: WriteCase<'removePerson'> = {
  before: holdPeople,
  async run(tx, caller, { params, query: { dry_run }, requestId }) {
    requireAdmin(caller.person, 'remove people');
    caller.shown.need = 'admin';
    const person = await personByHandle(tx, params['handle'] ?? '');
    if (!person) throw personNotFound();
    if (person.server_role === 'admin' && (await countAdmins(tx)) === 1) throw lastAdmin(person);
    const counts = await endPerson(tx, person, { caller });
    await audit(tx, { action: 'person.removed', by: caller, target: person.id, requestId, details: counts });
    return { answer: { person: personView(person), dry_run, ...counts }, tried: dry_run };
  },
};
