/** Writing a file: a new one, or a version of one over the version it replaces. */
import type { Query } from '../../contract/types.ts';
import { eventActor } from '../access/acting.ts';
import { lockPlace, onBoard, type Place } from '../access/board-access.ts';
import { parseRoles } from '../boards/boards.store.ts';
import { requirePermission } from '../boards/policy.rules.ts';
import type { ReadTx } from '../db/tx.ts';
import { membersWithIds } from '../members/members.store.ts';
import type { UploadCase } from '../operation/usecase.ts';
import { actorView } from '../views/actors.ts';
import { fileView } from '../views/file.ts';
import { type Decision, decideWrite } from './base-version.rules.ts';
import { type FileRow, liveBrief, liveByName, tasksOfFiles } from './files.store.ts';
import { taskIdsOf } from './find.steps.ts';
import { mediaTypeOf } from './media-types.rules.ts';
import { addFile, addVersion, refusalOf, takeOff, type Writing } from './write.steps.ts';

type Asked = Query<'uploadFile'>;

export const uploadFile: UploadCase<'uploadFile'> = {
  async check(tx, caller, { params, query }) {
    await decide(tx, await onBoard(tx, caller, params['board'] ?? ''), query);
  },

  async run(tx, caller, { params, query }, { digest, size }) {
    const place = await lockPlace(tx, caller, params['board'] ?? '');
    const { decision, atName, brief, taskIds } = await decide(tx, place, query);
    const { board, member } = place;
    const writing: Writing = { tx, board, member, actor: eventActor(member, caller.person.handle) };
    const before = decision.do === 'version' ? (query.brief ? brief : atName) : undefined;
    const version = {
      digest,
      size,
      mediaType: query.media_type ?? mediaTypeOf(query.name),
      maintained: query.brief || (query.maintained ?? before?.maintained === 1),
      taskIds: taskIds ?? (before ? (await tasksOfFiles(tx, [before.id])).map((task) => task.id) : []),
    };
    const file = before ?? (await add(writing, decision, brief, query, version));
    if (before) await addVersion(writing, before, version);
    return { answer: await fileView(tx, place, file) };
  },
};

async function add(
  writing: Writing,
  decision: Decision,
  brief: FileRow | undefined,
  query: Asked,
  version: Parameters<typeof addFile>[3],
): Promise<FileRow> {
  if (decision.do === 'switch' && brief) await takeOff(writing, brief);
  return addFile(writing, query.name, query.brief, version);
}

/** Everything that refuses a write; asked before the body is read, and again under the board's lock. @throws Refusal */
async function decide(tx: ReadTx, place: Place, query: Asked) {
  const { board, member, reader } = place;
  if (member.kind === 'agent') requirePermission(parseRoles(board)[member.role ?? ''], 'upload_files');
  const atName = await liveByName(tx, board.id, query.name);
  const brief = await liveBrief(tx, board.id);
  const decision = decideWrite(query, atName, brief);
  if (decision.do === 'refuse') {
    throw await refusalOf(tx, board.id, decision, query, async (id) => {
      const [writer] = await membersWithIds(tx, [id]);
      if (!writer) throw new Error(`member ${id} is missing`);
      return actorView(writer, reader);
    });
  }
  return { decision, atName, brief, taskIds: query.about && (await taskIdsOf(tx, board.id, query.about)) };
}
