/** Parts of the JSON that several `board` commands print. */
import { z } from 'zod';
import { answer, board, flag, member, named, object, seatRef, whole } from '../../../cli/shapes.ts';

export const lifecycle = named('BoardLifecycle', whole(answer('archiveBoard')));
export const members = object({ members: z.array(member) });
/** In a session with its own seat on the board. */
export const listedBoard = named(
  'ListedBoard',
  z.strictObject({ ...board.shape, linked: flag, seat: seatRef.optional() }),
);
export const changeOf = (value: z.ZodType) => object({ before: value, after: value });
