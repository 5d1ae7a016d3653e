/** The caller about itself. */
import { isPerson, type SeatCaller } from '../operation/caller.ts';
import type { ReadCase } from '../operation/usecase.ts';

export const getMe: ReadCase<'getMe'>['run'] = async (_tx, caller) => {
  if (isPerson(caller)) {
    const { person } = caller;
    return {
      id: person.person_id,
      kind: 'human',
      name: person.handle,
      board: null,
      owner: null,
      browser: caller.kind === 'BR',
      server_role: person.server_role,
      display_name: person.display_name,
      delivery_mode: null,
      delivery_revision: null,
      current_task: null,
    };
  }
  const { seat, person } = caller as SeatCaller;
  return {
    id: seat.member_id,
    kind: 'agent',
    name: seat.member_name,
    board: seat.board_name,
    owner: person.handle,
    browser: false,
    server_role: null,
    display_name: null,
    delivery_mode: seat.delivery_mode,
    delivery_revision: seat.delivery_revision,
    current_task: null,
  };
};
