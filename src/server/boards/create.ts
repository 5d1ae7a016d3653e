/** Creating a board. */
import type { WriteCase } from '../operation/usecase.ts';
import { boardView } from '../views/board.ts';
import { foundBoard, requireMayCreate } from './founding.steps.ts';
import { cleanTexts } from './texts.rules.ts';

export const createBoard: WriteCase<'createBoard'> = {
  prepare: cleanTexts,

  async run(tx, caller, { body }) {
    await requireMayCreate(tx, caller);
    return { answer: await boardView(tx, caller, await foundBoard(tx, caller, body)) };
  },
};
