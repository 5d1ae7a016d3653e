/** Who has which part in a task, what they are on, and what ends with a part. The board's row is locked. */
import { Refusal } from '../../contract/errors.ts';
import { type Acting, record, type Setting } from '../boards/acting.steps.ts';
import type { WriteTx } from '../db/tx.ts';
import { clearLines, setLine } from '../lines/lines.steps.ts';
import { type MemberRow, memberById, saveMember } from '../members/members.store.ts';
import { restartRunsAbout } from '../messages/messages.store.ts';
import { tellTakenOver } from '../notices/notices.steps.ts';
import { clearCurrentTask } from '../seats/agents.store.ts';
import { timestampOrNull } from '../text/time.ts';
import { deleteHelper, helpersOf, insertHelper, partsOf, saveTask, type TaskRow } from './tasks.store.ts';

/** @throws Refusal `task_closed`. */
export function requireOpen(task: TaskRow): void {
  if (task.closed_at === null) return;
  throw new Refusal('task_closed', `${task.ref} is ${task.state}.`, {
    hint: 'A closed task stays closed: open a follow-up with service task new "…".',
    details: { ref: task.ref, state: task.state, closed_at: timestampOrNull(task.closed_at) },
  });
}

export const isHelper = async (tx: WriteTx, task: TaskRow, memberId: string): Promise<boolean> =>
  (await helpersOf(tx, [task.id])).some((helper) => helper.member_id === memberId);

/** Makes the member the owner of a task that has none, or selects again one they own. */
export async function takeTask(acting: Acting, task: TaskRow): Promise<void> {
  const { member } = acting;
  const owned = task.owner_id === member.id;
  if (owned && (member.kind === 'human' || member.current_task_id === task.id)) return;
  const common = { task_id: task.id, ref: task.ref, member_id: member.id, previous_owner: null };
  const event = await record(acting, 'task.started', { ...common, ...(owned ? { reselected: true } : {}) });
  await own(acting, task, event, owned ? task.owner_seq : event.seq);
}

/** The same with a task that somebody else has, who helps from now on and is told. */
export async function takeOver(acting: Acting, task: TaskRow, from: string): Promise<void> {
  const { tx, board, member } = acting;
  const event = await record(acting, 'task.taken_over', { task_id: task.id, ref: task.ref, from, to: member.id });
  await insertHelper(tx, { task_id: task.id, member_id: from, seq: event.seq });
  await clearLines(tx, board.id, { task_id: task.id, member_id: from });
  await own(acting, task, event, event.seq);
  await tellTakenOver(tx, board, { memberId: from, task, by: member.name, seq: event.seq });
}

async function own({ tx, member }: Acting, task: TaskRow, { at }: { at: number }, owner_seq: number): Promise<void> {
  await deleteHelper(tx, task.id, member.id);
  await change(tx, task, { owner_id: member.id, owner_seq, owner_at: at, state: 'in_progress', updated_at: at });
  await select(tx, member, task);
}

/** Makes the member a helper; an owner stays the owner. */
export async function joinTask(acting: Acting, task: TaskRow): Promise<void> {
  const { tx, member } = acting;
  const has = task.owner_id === member.id || (await isHelper(tx, task, member.id));
  if (has && (member.kind === 'human' || member.current_task_id === task.id)) return;
  const common = { task_id: task.id, ref: task.ref, member_id: member.id };
  const event = await record(acting, 'task.joined', { ...common, ...(has ? { reselected: true } : {}) });
  if (!has) await insertHelper(tx, { task_id: task.id, member_id: member.id, seq: event.seq });
  await change(tx, task, await changedAt(acting, task, event.at));
  await select(tx, member, task);
}

/** An agent is on the task from now on, and its line says so. People are on no task. */
async function select(tx: WriteTx, member: MemberRow, task: TaskRow): Promise<void> {
  if (member.kind === 'human') return;
  await saveMember(tx, member.id, { current_task_id: task.id });
  member.current_task_id = task.id;
  await setLine(tx, member.board_id, { ...lineAbout(member, task), repo: null, paths: null });
}

/** What the line of an agent says while it is on a task. */
export const lineAbout = (member: MemberRow, task: TaskRow) => ({
  member_id: member.id,
  kind: 'working' as const,
  text: task.title,
  until: null,
  task_id: task.id,
  set_by: member.name,
  source: 'task' as const,
});

interface Drop {
  memberId: string;
  as: 'owner' | 'helper';
  reason: string | null;
  by: 'self' | 'person' | 'seat_ended';
}

/** Ends a part in a task that is not closed. */
export async function dropPart(
  setting: Setting,
  task: Pick<TaskRow, 'id' | 'ref'> & Partial<TaskRow>,
  { memberId, as, reason, by }: Drop,
): Promise<void> {
  const { tx, board } = setting;
  const data = { task_id: task.id, ref: task.ref, member_id: memberId, as, reason, by };
  const event = await record(setting, 'task.dropped', data);
  if (as === 'helper') await deleteHelper(tx, task.id, memberId);
  const columns = as === 'owner' ? { owner_id: null, owner_seq: 0, state: 'open' as const } : {};
  await change(tx, task, { ...columns, updated_at: event.at });
  await clearCurrentTask(tx, task.id, memberId);
  await clearLines(tx, board.id, { task_id: task.id, member_id: memberId });
}

/** Ends every open part of members who are gone, and their lines. */
export async function dropPartsOf(setting: Setting, memberIds: string[]): Promise<void> {
  for (const { id, ref, member_id, as } of await partsOf(setting.tx, memberIds)) {
    await dropPart(setting, { id, ref }, { memberId: member_id, as, reason: null, by: 'seat_ended' });
  }
  for (const member_id of memberIds) await clearLines(setting.tx, setting.board.id, { member_id });
}

/** The columns that say when a task changed, and when its owner or the owner's person did it. */
export async function changedAt({ tx, member }: Acting, { owner_id }: TaskRow, at: number) {
  const own =
    owner_id === member.id ||
    (owner_id !== null && member.kind === 'human' && (await memberById(tx, owner_id))?.person_id === member.person_id);
  return { updated_at: at, ...(own ? { owner_at: at } : {}) };
}

/** Writes columns of a task and keeps the row at hand true. Agents who talk about it may go on for as long again. */
export async function change(tx: WriteTx, task: Pick<TaskRow, 'id'> & Partial<TaskRow>, columns: Partial<TaskRow>) {
  await saveTask(tx, task.id, columns);
  await restartRunsAbout(tx, task.id);
  Object.assign(task, columns);
}

/** Nobody is on a closed task. */
export async function releaseAll(tx: WriteTx, { id, board_id }: TaskRow): Promise<void> {
  await clearCurrentTask(tx, id);
  await clearLines(tx, board_id, { task_id: id });
}
