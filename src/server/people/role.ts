/** Making admins and unmaking them. The server always keeps one. */
import type { WriteCase } from '../operation/usecase.ts';
import { personView } from '../views/person.ts';
import { personNotFound, requireAdmin } from './people.rules.ts';
import { lockPeople, lockPersonByHandle, personById } from './people.store.ts';
import { changeRole, refuseGuestRole } from './role.steps.ts';

const CHANGE = "change people's roles";

export const setPersonRole: WriteCase<'setPersonRole'> = {
  before: lockPeople,
  async run(tx, caller, { params, body, requestId }) {
    requireAdmin(caller.person, CHANGE);
    const person = await lockPersonByHandle(tx, params['handle'] ?? '');
    if (!person) throw personNotFound();
    caller.shown.person = person.id;
    refuseGuestRole(person);
    const after = body.server_role;
    if (person.server_role === after) return { answer: { person: personView(person), changed: false } };
    await changeRole(tx, person, { role: after, by: caller, requestId });
    return { answer: { person: personView({ ...person, server_role: after }), changed: true } };
  },
  async recheck(tx, caller, { person: id }) {
    requireAdmin(caller.person, CHANGE);
    if (id !== undefined && (await personById(tx, id))?.removed_at !== null) throw personNotFound();
  },
};
