/** Citing file versions in a message: what is cited stays that version for good, and an answer may approve it. */
import type { FileRef, FileToAttach } from '../../contract/types.ts';
import type { Acting } from '../boards/acting.steps.ts';
import type { WriteTx } from '../db/tx.ts';
import { type MessageRow, postedEvents } from '../messages/messages.store.ts';
import { postedIn } from '../messages/posted.rules.ts';
import { approve } from './approvals.steps.ts';
import { requireFile, requireLiveFile, requireVersion } from './find.steps.ts';
import { insertAttachments, isCited } from './posts.store.ts';

/**
 * The versions a post names, each once, as they are called now; without a number the latest.
 * @throws Refusal `file_not_found`, `version_not_found`.
 */
export async function filesToCite(tx: WriteTx, boardId: string, given: readonly FileToAttach[] | undefined) {
  const found = new Map<string, FileRef>();
  for (const { file: selector, version } of given ?? []) {
    const file = await requireLiveFile(tx, boardId, selector);
    const row = await requireVersion(tx, file, version ?? null);
    const ref = { digest: row.digest, id: file.id, name: file.name, version: row.version };
    found.set(`${ref.id} ${ref.version}`, ref);
  }
  return [...found.values()];
}

/** Whether one of these versions is cited for the first time. */
export async function citesNew(tx: WriteTx, files: readonly FileRef[]): Promise<boolean> {
  for (const { id, version } of files) if (!(await isCited(tx, id, version))) return true;
  return false;
}

/** Notes what a message cites, for those who ask where a file was cited. */
export async function keepCitations(tx: WriteTx, message: MessageRow, files: readonly FileRef[]): Promise<void> {
  if (files.length === 0) return;
  const { id: message_id, board_id, seq } = message;
  const rows = files.map(({ id: file_id, version }, n) => ({ message_id, n, file_id, version, seq, board_id }));
  await insertAttachments(tx, rows);
}

/** Approves what an approval ask cites, in the name of the person it asked: the cited versions, even if newer ones exist. */
export async function approveCited(acting: Acting, askId: string): Promise<void> {
  const { tx, board } = acting;
  const [posted] = await postedEvents(tx, [askId]);
  const { ask, files = [] } = posted ? postedIn(posted) : {};
  if (!ask?.approval) return;
  for (const { id, version } of files.toSorted((a, b) => a.version - b.version)) {
    await approve(acting, await requireVersion(tx, await requireFile(tx, board.id, id), version));
  }
}
