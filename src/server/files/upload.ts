/** Writing a file: a new one, or a version of one over the version it replaces. */
import type { Query } from '../../contract/types.ts';
import { actingOn } from '../access/acting.ts';
import { onBoard, type Place } from '../access/board-access.ts';
import { parseRoles } from '../boards/boards.store.ts';
import { requirePermission } from '../boards/policy.rules.ts';
import type { ReadTx } from '../db/tx.ts';
import type { UploadCase } from '../operation/usecase.ts';
import { fileView } from '../views/file.ts';
import { fileRefusal } from '../views/file-refusals.ts';
import { decideWrite } from './base-version.rules.ts';
import { liveBrief, liveByName, tasksOfFiles } from './files.store.ts';
import { taskIdsOf } from './find.steps.ts';
import { mediaTypeOf } from './media-types.rules.ts';
import { addFile, addVersion, takeOff } from './write.steps.ts';

type Asked = Query<'uploadFile'>;

export const uploadFile: UploadCase<'uploadFile'> = {
  async check(tx, caller, { params, query }) {
    await decide(tx, await onBoard(tx, caller, params.board), query);
  },

  async run(tx, caller, { params, query }, { digest, size }) {
    const { place, acting } = await actingOn(tx, caller, params.board);
    const { decision, atName, brief, taskIds } = await decide(tx, place, query);
    const before = decision.do === 'version' ? (query.brief ? brief : atName) : undefined;
    const version = {
      digest,
      size,
      mediaType: query.media_type ?? mediaTypeOf(query.name),
      maintained: query.brief || (query.maintained ?? before?.maintained === 1),
      taskIds: taskIds ?? (before ? (await tasksOfFiles(tx, [before.id])).map((task) => task.id) : []),
    };
    if (decision.do === 'switch' && brief) await takeOff(acting, brief);
    if (before) await addVersion(acting, before, version);
    const file = before ?? (await addFile(acting, query.name, query.brief, version));
    return { answer: await fileView(tx, place, file) };
  },
};

/** Everything that refuses a write; asked before the body is read, and again under the board's lock. @throws Refusal */
async function decide(tx: ReadTx, place: Place, query: Asked) {
  const { board, member } = place;
  if (member.kind === 'agent') requirePermission(parseRoles(board)[member.role ?? ''], 'upload_files');
  const atName = await liveByName(tx, board.id, query.name);
  const brief = await liveBrief(tx, board.id);
  const decision = decideWrite(query, atName, brief);
  if (decision.do === 'refuse') throw await fileRefusal(tx, place, decision, query);
  return { decision, atName, brief, taskIds: query.about && (await taskIdsOf(tx, board.id, query.about)) };
}
