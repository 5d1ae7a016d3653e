/** A person's approval of a version, and taking it back. */
import type { Params } from '../../contract/types.ts';
import { actingOn } from '../access/acting.ts';
import { record } from '../boards/acting.steps.ts';
import type { WriteTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { fileView } from '../views/file.ts';
import { approve } from './approvals.steps.ts';
import { approvalsOf, removeApproval } from './files.store.ts';
import { requireFile, requireVersion } from './find.steps.ts';

async function find(tx: WriteTx, caller: Caller, params: Params<'getFile'>) {
  const { place, acting } = await actingOn(tx, caller, params.board);
  return { place, acting, file: await requireFile(tx, place.board.id, params.file) };
}

export const approveFile: WriteCase<'approveFile'> = {
  async run(tx, caller, { params, body }) {
    const { place, acting, file } = await find(tx, caller, params);
    await approve(acting, await requireVersion(tx, file, body.version));
    return { answer: await fileView(tx, place, file) };
  },
};

export const unapproveFile: WriteCase<'unapproveFile'> = {
  async run(tx, caller, { params }) {
    const { place, acting, file } = await find(tx, caller, params);
    const personId = place.member.person_id;
    const mine = (await approvalsOf(tx, [file.id])).find((row) => row.person_id === personId);
    if (mine) {
      await record(acting, 'file.approval_removed', { file_id: file.id, version: mine.version });
      await removeApproval(tx, file.id, personId);
    }
    return { answer: await fileView(tx, place, file) };
  },
};
