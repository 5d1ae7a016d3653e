/** Creating a board. */
import type { WriteCase } from '../operation/usecase.ts';
import { boardView } from '../views/board.ts';
import { requireMayCreate } from './creation.steps.ts';
import { cleanLine, foundBoard } from './founding.steps.ts';

export const createBoard: WriteCase<'createBoard'> = {
  prepare: cleanLine,

  async run(tx, caller, { body }) {
    await requireMayCreate(tx, caller);
    return { answer: await boardView(tx, caller, await foundBoard(tx, caller, body)) };
  },
};
