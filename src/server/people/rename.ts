/** Changing a person's handle. The old one stays theirs for good, so that nobody can pose as them. */
import { lockBoardsOfPerson } from '../boards/boards.store.ts';
import { isNameOfOther } from '../members/member-names.store.ts';
import { renameOnBoards } from '../members/rename.steps.ts';
import type { Caller } from '../operation/caller.ts';
import { refuseGuest, requireAdmin } from '../operation/terms.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { audit } from '../record/audit.steps.ts';
import { personView } from '../views/person.ts';
import { handleTaken } from './handles.rules.ts';
import { personNotFound } from './people.rules.ts';
import { holderOfHandle, lockPeople, lockPersonNamed, personById, reserveHandles, savePerson } from './people.store.ts';

export const renamePerson: WriteCase<'renamePerson'> = {
  before: lockPeople,
  async run(tx, caller, { params, body: { handle }, requestId }) {
    const current = params.handle;
    requireAuthority(caller, current === caller.person.handle);
    const person = await lockPersonNamed(tx, current);
    if (!person) throw personNotFound();
    caller.shown.person = person.id;
    if (handle === current) return { answer: { person: personView(person), changed: false } };

    const holder = await holderOfHandle(tx, handle);
    if (holder !== undefined && holder !== person.id) throw handleTaken(handle);
    const boards = await lockBoardsOfPerson(tx, person.id);
    const ids = boards.map((board) => board.id);
    if (await isNameOfOther(tx, ids, handle, person.id)) throw handleTaken(handle);

    await reserveHandles(tx, person.id, [current, handle]);
    await savePerson(tx, person.id, { handle });
    await renameOnBoards(tx, boards, caller, { person, handle });
    const details = { before: current, after: handle };
    await audit(tx, { action: 'person.renamed', by: caller, target: person.id, requestId, details });
    return { answer: { person: personView({ ...person, handle }), changed: true } };
  },
  async recheck(tx, caller, { person: id }) {
    requireAuthority(caller, id === caller.person.person_id);
    if (id !== undefined && (await personById(tx, id))?.removed_at !== null) throw personNotFound();
  },
};

/**
 * People rename themselves, admins anybody; that is decided before the handle is looked up. The row cannot say it: a guest
 * who names somebody else is told the same as every person who is no admin.
 */
function requireAuthority({ person }: Caller, self: boolean): void {
  if (self) refuseGuest(person, { cannot: 'change their handle' });
  else requireAdmin(person, { may: 'rename somebody else' });
}
