/** Approving a version of a file: one approval for each person and file, which never moves on by itself. */
import type { EventActor } from '../../contract/types.ts';
import type { BoardRow } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import type { MemberRow } from '../members/members.store.ts';
import { restartRunsCiting } from '../messages/messages.store.ts';
import { append } from '../record/append.steps.ts';
import { approvalsOf, saveApproval, type VersionRow } from './files.store.ts';

interface Approving {
  tx: WriteTx;
  /** Held by this transaction. */
  board: BoardRow;
  /** A person. */
  member: MemberRow;
  actor: EventActor;
}

/** The same version again changes nothing; another one takes the place of the one before. */
export async function approve({ tx, board, member, actor }: Approving, version: VersionRow): Promise<void> {
  const { file_id, digest } = version;
  const mine = (await approvalsOf(tx, [file_id])).find((row) => row.person_id === member.person_id);
  if (mine?.version === version.version) return;
  const { seq, at } = await append(tx, board, {
    type: 'file.approved',
    actor,
    data: { digest, file_id, version: version.version },
  });
  await saveApproval(tx, {
    file_id,
    person_id: member.person_id,
    member_id: member.id,
    version: version.version,
    digest,
    at,
    seq,
  });
  await restartRunsCiting(tx, board.id, { fileId: file_id, version: version.version });
}
