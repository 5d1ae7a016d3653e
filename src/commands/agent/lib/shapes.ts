/** Parts of the JSON that several `agent` commands print. */
import { answer } from '../../../cli/shapes.ts';

export const endedSeat = answer('leaveSeat');
