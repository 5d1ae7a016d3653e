/** Archiving, restoring and deleting a board: which one, whether it is meant, and what this machine forgets with it. */
import { readCredentials } from '../local/credentials.ts';
import { Failure } from '../local/failure.ts';
import { chooseBoard } from './boards.ts';
import { forgetSeats } from './endings.ts';
import type { Output } from './output.ts';
import { type LifecycleVerb, lifecycleQuestion } from './print/states.ts';
import { runtime } from './runtime.ts';
import type { Session } from './session.ts';

/** The board by name or id: as it was typed, else the one in use. */
export async function boardMeant(session: Session, typed: string | undefined, out: Output): Promise<string> {
  if (typed === undefined) return (await chooseBoard(session, out)).name;
  out.base.board = typed;
  return typed;
}

/** Has the name typed again, because nothing brings a deleted board back. */
export async function confirmByName(verb: LifecycleVerb, board: string, out: Output, noInput: boolean): Promise<void> {
  const question = lifecycleQuestion(verb, board);
  const { askText, mayAsk } = await import('./prompts.ts');
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
