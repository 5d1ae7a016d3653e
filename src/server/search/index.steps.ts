/** Bringing the index up to a board's record. It is derived from the record alone and can be thrown away. */
import type { WriteTx } from '../db/tx.ts';
import { type SearchedMessage, searchedFields } from './fields.rules.ts';
import { addDocs, progressOf, saveProgress, unindexedMessages } from './search.store.ts';
import { wordsOf } from './words.rules.ts';

/** Messages in one transaction: few, because every write waits for it. */
const BATCH = 200;

/** Indexes the next messages of a board, at least up to `head` in the end; answers whether more are waiting. */
export async function indexBatch(tx: WriteTx, boardId: string, head: number): Promise<boolean> {
  await tx.serialise('search index');
  const done = await progressOf(tx, boardId);
  if (done >= head) return false;
  const messages = await unindexedMessages(tx, boardId, done, BATCH);
  await addDocs(
    tx,
    messages.map(({ id, at, data }) => ({
      kind: 'message' as const,
      board_id: boardId,
      ref_id: id,
      at,
      fields: fieldsOf(data),
    })),
  );
  const last = messages.at(-1)?.seq ?? done;
  const more = messages.length === BATCH;
  // The record may have grown since its head was read: what was indexed beyond it counts as done too.
  await saveProgress(tx, boardId, more ? last : Math.max(last, head));
  return more;
}

/** The words of a message's searched fields. */
function fieldsOf(data: string): string[][] {
  const posted = JSON.parse(data) as SearchedMessage;
  // Each option and name is a field of its own: a phrase does not go from one to the next.
  const texts = searchedFields(posted).flatMap(({ name, text }) => (name === 'body' ? [text] : text.split('\n')));
  return texts.map((text) => wordsOf(text).map((word) => word.folded));
}
