/** Whether a join code works now, for joining with it. */
import { Refusal } from '../../contract/errors.ts';
import { type BoardRow, codeBoard, lockBoardById, parseRoles } from '../boards/boards.store.ts';
import { mayMakeCodes } from '../boards/policy.rules.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { memberById } from '../members/members.store.ts';
import { activeHuman } from '../members/memberships.store.ts';
import { personById } from '../people/people.store.ts';
import type { RootKey } from '../text/root-key.ts';
import { readShortCode } from '../text/short-code.ts';
import { codeByDigest, codeById, type JoinCodeRow, workingAmong } from './join-codes.store.ts';

export interface Found {
  code: JoinCodeRow;
  board: BoardRow;
}

/**
 * The code somebody typed, working or not, with its board's row locked: every write that ends or uses a code locks it too,
 * so what is read here stays true until the commit. Null: there is no such code.
 */
export async function findCode(tx: WriteTx, root: RootKey, typed: string): Promise<Found | null> {
  const shown = readShortCode(typed);
  const known = shown === null ? undefined : await codeByDigest(tx, root.digest(shown));
  if (!known) return null;
  const board = await lockBoardById(tx, known.board_id);
  const code = await codeById(tx, known.id);
  return board && code ? { board, code } : null;
}

/** Whether a code lets anybody in now; that its board is archived is told apart. */
export async function codeWorks(tx: ReadTx, { code, board }: Found): Promise<boolean> {
  const working = await workingAmong(tx, codeBoard(board), [code.id]);
  return board.lifecycle !== 'deleted' && working.has(code.id) && (await makerStands(tx, { code, board }));
}

/** Whether who made a code is still on the board with what making it took. */
export async function makerStands(tx: ReadTx, { code, board }: Found): Promise<boolean> {
  const maker = await memberById(tx, code.maker_member_id);
  const person = await personById(tx, code.maker_person_id);
  if (maker?.status !== 'active' || !person || person.removed_at !== null || person.server_role === 'guest') {
    return false;
  }
  if (maker.kind === 'human') return true;
  return mayMakeCodes(parseRoles(board), maker) && (await activeHuman(tx, board.id, person.id)) !== undefined;
}

/** The one answer for every code that lets nobody in. */
export function codeInvalid(): Refusal {
  return new Refusal('join_code_invalid', 'This join code does not work.', {
    hint: 'Ask for a new one; codes end when they are used up, revoked or expired.',
  });
}

/** The refusal of a code's archived board, which is not named: who holds a code may not see it yet. */
export const archivedByCode = (): Refusal =>
  new Refusal('board_archived', 'The board of this join code is archived.', {
    hint: "The board's creator, while still on it, or a server admin can restore it; the code works again then.",
  });
