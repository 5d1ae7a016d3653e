/** Making admins and unmaking them. The server always keeps one. */
import { Refusal } from '../../contract/errors.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { personView } from '../views/person.ts';
import { audit } from './audit.steps.ts';
import { lastAdmin, personNotFound, requireAdmin } from './people.rules.ts';
import { countAdmins, holdPeople, lockPersonByHandle, type PersonRow, personById, savePerson } from './people.store.ts';

const CHANGE = "change people's roles";

export const setPersonRole: WriteCase<'setPersonRole'> = {
  before: holdPeople,
  async run(tx, caller, { params, body, requestId }) {
    requireAdmin(caller.person, CHANGE);
    const person = await lockPersonByHandle(tx, params['handle'] ?? '');
    if (!person) throw personNotFound();
    caller.shown.person = person.id;
    if (person.server_role === 'guest') throw isGuest(person);
    const [before, after] = [person.server_role, body.server_role];
    if (before === after) return { answer: { person: personView(person), changed: false } };
    if (before === 'admin' && (await countAdmins(tx)) === 1) throw lastAdmin(person);
    await savePerson(tx, person.id, { server_role: after });
    await audit(tx, {
      action: 'person.role_changed',
      by: caller,
      target: person.id,
      requestId,
      details: { before, after },
    });
    // What they may do with boards, and which boards they are told of, has changed.
    tx.publish(`account:${person.id}`);
    return { answer: { person: personView({ ...person, server_role: after }), changed: true } };
  },
  async recheck(tx, caller, { person: id }) {
    requireAdmin(caller.person, CHANGE);
    if (id !== undefined && (await personById(tx, id))?.removed_at !== null) throw personNotFound();
  },
};

const isGuest = ({ handle }: PersonRow): Refusal =>
  new Refusal('person_is_guest', `${handle} is a guest; a guest stays one.`, {
    hint: 'Invite them to the server with an account of their own: service invite create',
  });
