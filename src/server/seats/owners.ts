/** Making somebody an owner of a board, and an owner a member again. */
import { Refusal } from '../../contract/errors.ts';
import { patterns } from '../../contract/ids.ts';
import type { WriteTx } from '../db/tx.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { append } from '../record/append.ts';
import { eventActor } from '../views/actors.ts';
import { refuseGuest, requireOwner } from '../views/authority.ts';
import { boardPersonView } from '../views/person.ts';
import { lockPlace, type Place, requireActive } from '../views/place.ts';
import { countOwners, humanByHandle, type MemberWithPerson, setAccess } from './members.store.ts';

export const makeBoardOwner: WriteCase<'makeBoardOwner'> = {
  async run(tx, caller, { params, body }) {
    const place = await lockPlace(tx, caller, params['board'] ?? '');
    refuseGuest(caller, 'make owners');
    requireActive(place.board);
    await requireOwner(tx, place);
    const person = await personOn(tx, place, body.handle);
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
    const person = await personOn(tx, place, params['handle'] ?? '');
    if (person.access === 'admin') {
      // The board's row is held: whoever else ends an ownership at this moment counts after us.
      if ((await countOwners(tx, place.board.id)) === 1) throw lastOwner(place);
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

async function personOn(tx: WriteTx, { board }: Place, handle: string): Promise<MemberWithPerson> {
  const found = patterns.handle.test(handle) ? await humanByHandle(tx, board.id, handle) : undefined;
  if (found) return found;
  throw new Refusal('person_not_on_board', `There is nobody with this handle on ${board.name}.`, {
    hint: `service board people --board ${board.name} shows who is on it.`,
  });
}

const lastOwner = ({ board }: Place): Refusal =>
  new Refusal('last_owner', `${board.name} has no other owner.`, {
    hint: `Make somebody else an owner first: service board owners --add HANDLE --board ${board.name}`,
  });
