/** An agent leaving its board for good. */
import { eventActor } from '../access/acting.ts';
import { lockPlaceById } from '../access/place.ts';
import type { SeatCaller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { seatView } from '../views/seat.ts';
import { endSeat } from './endings.steps.ts';

export const leaveSeat: WriteCase<'leaveSeat'> = {
  endsCaller: true,
  async run(tx, caller) {
    const { seat, person } = caller as SeatCaller;
    const { board, member } = await lockPlaceById(tx, caller, seat.board_id);
    const actor = eventActor(member, person.handle);
    const left = await endSeat(tx, board, member, { actor, by: 'self', owner: person.handle });
    return { answer: seatView(left, person.handle, { board }) };
  },
};
