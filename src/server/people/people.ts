/** The people of the server: listing them, making and unmaking admins, removing somebody; their messages stay. */
import type { ReadTx } from '../db/tx.ts';
import type { ReadCase, WriteCase } from '../operation/usecase.ts';
import { cutPage, pageFrom, readPageToken } from '../text/page-token.ts';
import { personView } from '../views/person.ts';
import { personNotFound } from './people.rules.ts';
import {
  listPersonRows,
  lockPeople,
  lockPersonNamed,
  personByHandle,
  personById,
  personNamed,
} from './people.store.ts';
import { removeFromServer } from './remove.steps.ts';
import { changeRole, refuseGuestRole } from './role.steps.ts';

const PAGE = 200;

export const listPeople: ReadCase<'listPeople'>['run'] = async (tx, _caller, { query }) => {
  if (query.handle !== undefined) return showPerson(tx, query.handle);
  const { limit = PAGE } = query;
  const position = readPageToken(query.after);
  const { page, next_after } = cutPage(
    await listPersonRows(tx, (rows) => pageFrom(rows, 'people', position, limit)),
    limit,
  );
  return { people: page.map(personView), next_after };
};

/** Exactly this current handle; a guest looks like nobody. */
async function showPerson(tx: ReadTx, handle: string) {
  const person = await personByHandle(tx, handle);
  if (!person || person.server_role === 'guest') throw personNotFound();
  return { id: person.id, handle: person.handle, display_name: person.display_name };
}

/** The server always keeps an admin. */
export const setPersonRole: WriteCase<'setPersonRole'> = {
  before: lockPeople,
  async run(tx, caller, { params, body, requestId }) {
    const person = await lockPersonNamed(tx, params.handle);
    if (!person) throw personNotFound();
    caller.shown.person = person.id;
    refuseGuestRole(person);
    const after = body.server_role;
    if (person.server_role === after) return { answer: { person: personView(person), changed: false } };
    const warned = await changeRole(tx, person, { role: after, by: caller, requestId });
    return { answer: { person: personView({ ...person, server_role: after }), changed: true, ...warned } };
  },
  async recheck(tx, _caller, { person: id }) {
    if (id !== undefined && (await personById(tx, id))?.removed_at !== null) throw personNotFound();
  },
};

export const removePerson: WriteCase<'removePerson'> = {
  before: lockPeople,
  async run(tx, caller, { params, query: { dry_run }, requestId }) {
    const person = await personNamed(tx, params.handle);
    if (!person) throw personNotFound();
    const ended = await removeFromServer(tx, person, { caller, requestId });
    return { answer: { person: personView(person), dry_run, ...ended }, tried: dry_run };
  },
};
