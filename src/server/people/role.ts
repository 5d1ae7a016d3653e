/** Making admins and unmaking them. The server always keeps one. */
import type { WriteCase } from '../operation/usecase.ts';
import { personView } from '../views/person.ts';
import { personNotFound } from './people.rules.ts';
import { lockPeople, lockPersonByHandle, personById } from './people.store.ts';
import { changeRole, refuseGuestRole } from './role.steps.ts';

export const setPersonRole: WriteCase<'setPersonRole'> = {
  before: lockPeople,
  async run(tx, caller, { params, body, requestId }) {
    const person = await lockPersonByHandle(tx, params['handle'] ?? '');
    if (!person) throw personNotFound();
    caller.shown.person = person.id;
    refuseGuestRole(person);
    const after = body.server_role;
    if (person.server_role === after) return { answer: { person: personView(person), changed: false } };
    await changeRole(tx, person, { role: after, by: caller, requestId });
    return { answer: { person: personView({ ...person, server_role: after }), changed: true } };
  },
  async recheck(tx, _caller, { person: id }) {
    if (id !== undefined && (await personById(tx, id))?.removed_at !== null) throw personNotFound();
  },
};
