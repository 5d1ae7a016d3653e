/** Making somebody an owner of a board, and an owner a member again. */
import { eventActor } from '../access/acting.ts';
import { requireOwner, requirePersonOn } from '../access/authority.ts';
import { lockPlace } from '../access/place.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { boardPersonView } from '../views/person.ts';
import { makeOwner, ownershipChanges, unmakeOwner } from './owners.steps.ts';

export const makeBoardOwner: WriteCase<'makeBoardOwner'> = {
  async run(tx, caller, { params, body }) {
    const place = await lockPlace(tx, caller, params['board'] ?? '');
    await requireOwner(tx, place);
    const person = await requirePersonOn(tx, place, body.handle);
    if (await ownershipChanges(tx, place.board, person, 'owner')) {
      await makeOwner({
        tx,
        board: place.board,
        member: person,
        actor: eventActor(place.member, caller.person.handle),
      });
    }
    return { answer: boardPersonView(person, place.board.name) };
  },
};

export const unmakeBoardOwner: WriteCase<'unmakeBoardOwner'> = {
  async run(tx, caller, { params }) {
    const place = await lockPlace(tx, caller, params['board'] ?? '');
    await requireOwner(tx, place);
    const person = await requirePersonOn(tx, place, params['handle'] ?? '');
    if (await ownershipChanges(tx, place.board, person, 'member')) {
      await unmakeOwner({
        tx,
        board: place.board,
        member: person,
        actor: eventActor(place.member, caller.person.handle),
      });
    }
    return { answer: boardPersonView(person, place.board.name) };
  },
};
