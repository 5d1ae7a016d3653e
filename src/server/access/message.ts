/** Messages that a caller or a member may read. A message they may not read is the same as a missing one. */
import { Refusal } from '../../contract/errors.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { isAddressed, type MessageRow, messageById, messageBySeq } from '../messages/messages.store.ts';
import type { Caller, Shown } from '../operation/caller.ts';
import { requireTerms } from '../operation/terms.ts';
import { lockVisibleById, type Place, type Reader, requirePlace, seeBoardById } from './board-access.ts';

export function messageNotFound(): Refusal {
  return new Refusal('message_not_found', 'There is no such message here.', {
    hint: 'service board read shows the messages you can read.',
  });
}

/** Whether a reader may read a message. */
export async function mayRead(tx: ReadTx, reader: Reader, message: MessageRow): Promise<boolean> {
  if (reader.readsAll || message.to_everyone === 1 || message.sender_id === reader.memberId) return true;
  return isAddressed(tx, reader.memberId, message.seq);
}

/** A message by id with its board, both readable to the caller. @throws Refusal `message_not_found`, whatever is wrong. */
export async function findMessage(tx: ReadTx, caller: Caller, id: string) {
  const message = await messageById(tx, id);
  if (!message) throw messageNotFound();
  const place = await seeBoardById(tx, caller, message.board_id).then(requirePlace).catch(hidden);
  if (!(await mayRead(tx, place.reader, message))) throw messageNotFound();
  return { place, message };
}

/** For a kept answer about a message: one that its caller cannot read any more is missing, as it is for a new request. */
export async function requireStillReadable(tx: WriteTx, caller: Caller, { message = '' }: Shown): Promise<void> {
  await findMessage(tx, caller, message);
}

/**
 * The same for a write: the board's row is held until the commit.
 * @throws Refusal `message_not_found`, and of a readable message what the operation's row refuses.
 */
export async function lockMessage(tx: WriteTx, caller: Caller, id: string) {
  const found = await messageById(tx, id);
  if (!found) throw messageNotFound();
  const place = await lockVisibleById(tx, caller, found.board_id).then(requirePlace).catch(hidden);
  // Read again under the lock: counts on its row may have moved.
  const message = await messageById(tx, id);
  if (!message || !(await mayRead(tx, place.reader, message))) throw messageNotFound();
  requireTerms(caller, place.board);
  return { place, message };
}

/** A readable message of a board. @throws Refusal `message_not_found`. */
export async function findMessageById(tx: ReadTx, place: Place, id: string): Promise<MessageRow> {
  const message = await messageById(tx, id);
  if (message?.board_id !== place.board.id || !(await mayRead(tx, place.reader, message))) throw messageNotFound();
  return message;
}

/** The same by its number. @throws Refusal `message_not_found`. */
export async function findMessageBySeq(tx: ReadTx, place: Place, seq: number): Promise<MessageRow> {
  const message = await messageBySeq(tx, place.board.id, seq);
  if (!message || !(await mayRead(tx, place.reader, message))) throw messageNotFound();
  return message;
}

function hidden(error: unknown): never {
  throw error instanceof Refusal ? messageNotFound() : error;
}
