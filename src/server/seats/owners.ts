/** Making somebody an owner of a board, and an owner a member again. */
import { Refusal } from '../../contract/errors.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { append } from '../record/append.ts';
import { eventActor } from '../views/actors.ts';
import { refuseGuest, requireAnotherOwner, requireOwner, requirePersonOn } from '../views/authority.ts';
import { boardPersonView } from '../views/person.ts';
import { lockPlace, requireActive } from '../views/place.ts';
import { setAccess } from './members.store.ts';

export const makeBoardOwner: WriteCase<'makeBoardOwner'> = {
  async run(tx, caller, { params, body }) {
    const place = await lockPlace(tx, caller, params['board'] ?? '');
    refuseGuest(caller, 'make owners');
    requireActive(place.board);
    await requireOwner(tx, place);
    const person = await requirePersonOn(tx, place, body.handle);
    if (person.server_role === 'guest') {
      throw new Refusal('person_is_guest', `${person.handle} is a guest of this server.`, {
        hint: 'Only members of the server can own a board.',
      });
    }
    if (person.access !== 'admin') {
      await setAccess(tx, person.id, 'admin');
      person.access = 'admin';
      await append(tx, place.board, {
        type: 'person.made_owner',
        actor: eventActor(place.member, caller.person.handle),
        data: { member_id: person.id, person_id: person.person_id, name: person.name },
      });
    }
    return { answer: boardPersonView(person, place.board.name) };
  },
};

export const unmakeBoardOwner: WriteCase<'unmakeBoardOwner'> = {
  async run(tx, caller, { params }) {
    const place = await lockPlace(tx, caller, params['board'] ?? '');
    refuseGuest(caller, 'change who owns a board');
    await requireOwner(tx, place);
    const person = await requirePersonOn(tx, place, params['handle'] ?? '');
    if (person.access === 'admin') {
      await requireAnotherOwner(tx, place);
      await setAccess(tx, person.id, 'member');
      person.access = 'member';
      await append(tx, place.board, {
        type: 'person.role_changed',
        actor: eventActor(place.member, caller.person.handle),
        data: { member_id: person.id, person_id: person.person_id, before: 'owner', after: 'member' },
      });
    }
    return { answer: boardPersonView(person, place.board.name) };
  },
};
