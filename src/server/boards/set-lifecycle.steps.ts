/** Changes a board's lifecycle and visibility; its caller has checked that it may. */
import { closeForBoard } from '../approvals/closings.steps.ts';
import { revokeCodes } from '../joining/join-codes.steps.ts';
import { append } from '../record/append.steps.ts';
import { type BoardRow, saveSettings } from './boards.store.ts';
import type { Setting } from './settings.steps.ts';

const events = { active: 'board.restored', archived: 'board.archived', deleted: 'board.deleted' } as const;

/** @param personId who acts, or the person of the agent that does. */
export async function setLifecycle(
  { tx, board, actor }: Setting,
  after: BoardRow['lifecycle'],
  personId: string,
): Promise<void> {
  const { lifecycle: before } = board;
  await saveSettings(tx, board.id, { lifecycle: after });
  board.lifecycle = after;
  if (after === 'deleted') await closeForBoard(tx, board.id);
  await append(tx, board, { type: events[after], actor, data: { person_id: personId, before, after } });
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
  const { tx, board, actor } = setting;
  const { visibility: before } = board;
  const columns = { visibility: after, agents_add_people: agents_add_people ? 1 : 0 };
  await saveSettings(tx, board.id, columns);
  Object.assign(board, columns);
  const data = { before, after, reveals, agents_add_people };
  await append(tx, board, { type: 'board.visibility_changed', actor, data });
  if (after === 'private') await revokeCodes(tx, board, actor, 'all');
  // It comes into or goes out of everybody's sight.
  tx.publish('boards');
}
