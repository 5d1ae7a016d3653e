/** Changes a board's lifecycle and visibility; its caller has checked that it may. */
import { closeForBoard } from '../approvals/closings.steps.ts';
import { revokeCodes } from '../joining/join-codes.steps.ts';
import { record, type Setting } from './acting.steps.ts';
import { type BoardRow, saveBoard } from './boards.store.ts';

const events = { active: 'board.restored', archived: 'board.archived', deleted: 'board.deleted' } as const;

/** @param personId who acts, or the person of the agent that does. */
export async function setLifecycle(setting: Setting, after: BoardRow['lifecycle'], personId: string): Promise<void> {
  const { tx, board } = setting;
  const { lifecycle: before } = board;
  await saveBoard(tx, board, { lifecycle: after });
  if (after === 'deleted') await closeForBoard(tx, board.id);
  await record(setting, events[after], { person_id: personId, before, after });
  // Members of the board learn of it from its record.
  if (board.visibility === 'open') tx.publish('boards');
}

/** What turning a board reveals, and what goes with it. */
interface Turn {
  after: BoardRow['visibility'];
  reveals: { messages: number; files: number } | null;
  agents_add_people: boolean;
}

/** Members stay; a private board has no join codes, and its agents cannot add people. */
export async function setVisibility(setting: Setting, { after, reveals, agents_add_people }: Turn): Promise<void> {
  const { tx, board } = setting;
  const { visibility: before } = board;
  await saveBoard(tx, board, { visibility: after, agents_add_people: agents_add_people ? 1 : 0 });
  await record(setting, 'board.visibility_changed', { before, after, reveals, agents_add_people });
  if (after === 'private') await revokeCodes(setting, 'all');
  // It comes into or goes out of everybody's sight.
  tx.publish('boards');
}
