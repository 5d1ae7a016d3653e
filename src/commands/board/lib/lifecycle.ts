/** Archives, restores and deletes a board, with the confirmation and the local clean-up. */
import { EXIT } from '../../../cli/errors.ts';
import type { Output } from '../../../cli/output.ts';
import { runtime } from '../../../cli/runtime.ts';
import { chooseBoard } from '../../../cli/session/board.ts';
import { type Session, staying } from '../../../cli/session/open-session.ts';
import type { Client } from '../../../client/client.ts';
import type { ClientError } from '../../../client/errors.ts';
import { pages } from '../../../client/pages.ts';
import type { HiddenBoard } from '../../../contract/types.ts';
import { Failure } from '../../../local/failure.ts';
import { readCredentials } from '../../../local/keys/credentials.ts';
import { forgetSeats } from './leaving.ts';
import { type LifecycleVerb, lifecycleQuestion } from './states.ts';

/** The board by name or id: as it was typed, else the one in use. */
export async function boardMeant(session: Session, typed: string | undefined, out: Output): Promise<string> {
  if (typed === undefined) return (await chooseBoard(session, out)).name;
  out.base.board = typed;
  return typed;
}

/**
 * Refuses what the server would refuse, before anybody types a name for it.
 * @throws Failure `board_creator_required`, `board_not_archived`; ClientError `board_not_found`.
 */
export async function requireDeletable(session: Session, board: string): Promise<void> {
  const { can_delete, can_archive } = await lookedUp(session.client, board);
  if (can_delete) return;
  if (!can_archive)
    throw new Failure('board_creator_required', "Only the board's creator or a server admin can delete it.", {
      hint: 'Ask its creator, while they are still on the board, or a server admin.',
      exit: EXIT.refused,
    });
  throw new Failure('board_not_archived', 'Only an archived board can be deleted.', {
    hint: `Archive it first: service board archive ${board}${staying(session)}`,
    exit: EXIT.conflict,
  });
}

/** Of a private board that an admin is not on the id alone is known. @throws ClientError `board_not_found` */
export async function lookedUp(
  client: Client,
  board: string,
): Promise<Pick<HiddenBoard, 'can_archive' | 'can_delete'>> {
  try {
    return (await client.call('getBoard', { params: { board } })).data;
  } catch (error) {
    if ((error as ClientError).code !== 'board_not_found' || !board.startsWith('brd_')) throw error;
    for await (const page of pages(client, 'listBoards', { query: { all: true, lifecycle: 'all' } })) {
      const hidden = page.hidden_boards?.find(({ id }) => id === board);
      if (hidden) return hidden;
    }
    throw error;
  }
}

/** Has the name typed again, because nothing brings a deleted board back. */
export async function confirmByName(verb: LifecycleVerb, board: string, out: Output, noInput: boolean): Promise<void> {
  const question = lifecycleQuestion(verb, board);
  const { askText, mayAsk } = await import('../../../cli/terminal/prompts.ts');
  if (!mayAsk(out, noInput)) throw new Failure('confirmation_required', question, { hint: 'Repeat it with --yes' });
  out.note(question);
  const answer = await askText(`Type ${board} to ${verb} it`, '');
  if (answer !== board) throw new Failure('confirmation_required', `That is not ${board}; nothing was changed.`);
}

/** Tokens of seats on a deleted board do nothing any more. */
export async function forgetSeatsOn(boardId: string): Promise<void> {
  const seats = Object.values(readCredentials(runtime().folders).servers).flatMap((entry) =>
    Object.entries(entry.seats),
  );
  await forgetSeats(seats.filter(([, seat]) => seat.board_id === boardId).map(([id]) => id));
}
