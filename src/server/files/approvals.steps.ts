/** Approving a version of a file: one approval for each person and file, which never moves on by itself. */
import { type Acting, record } from '../boards/acting.steps.ts';
import { restartRunsCiting } from '../messages/messages.store.ts';
import { approvalsOf, saveApproval, type VersionRow } from './files.store.ts';

/** A person approves: the same version again changes nothing; another one takes the place of the one before. */
export async function approve(acting: Acting, { file_id, version, digest }: VersionRow): Promise<void> {
  const { tx, board, member } = acting;
  const { id: member_id, person_id } = member;
  const mine = (await approvalsOf(tx, [file_id])).find((row) => row.person_id === person_id);
  if (mine?.version === version) return;
  const { seq, at } = await record(acting, 'file.approved', { digest, file_id, version });
  await saveApproval(tx, { file_id, person_id, member_id, version, digest, at, seq });
  await restartRunsCiting(tx, board.id, file_id, version);
}
