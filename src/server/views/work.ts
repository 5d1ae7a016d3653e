/** What an agent works on and what waits for it, as its inbox tells it. */
import type { AgentWork } from '../../contract/types.ts';
import type { ReadTx } from '../db/tx.ts';
import { liveBrief } from '../files/files.store.ts';
import { linesOf } from '../seats/lines.store.ts';
import { reportsOf } from '../seats/reports.store.ts';
import { countOpenTasks, tasksWithIds } from '../tasks/tasks.store.ts';
import { countOpenAsks, oldestOpenTask, postsWithoutTask } from '../tasks/work.store.ts';
import { briefViews } from './file.ts';
import { lineView, standingLines } from './line.ts';
import type { Place } from './place.ts';
import { taskView } from './task.ts';
import { taskRefView } from './task-ref.ts';

/** Counts only what the agent may see. */
export async function workView(tx: ReadTx, place: Place): Promise<AgentWork> {
  const { board, member } = place;
  const [open] = await countOpenTasks(tx, [board.id]);
  const oldest = open ? await oldestOpenTask(tx, board.id) : undefined;
  const asks = await countOpenAsks(tx, member.id);
  return {
    current_task: await currentTask(tx, place),
    open_tasks: Number(open?.count ?? 0),
    oldest_open: oldest ? taskRefView(oldest) : null,
    posts_without_task: await postsWithout(tx, place),
    asks_waiting: asks.own,
    asks_to_it: asks.received,
    line: await ownLine(tx, place),
    brief: await ownBrief(tx, place),
    nudges: place.policy.nudges !== 'off',
  };
}

/** Nothing is read for an agent that is on a task or has said nothing yet. */
async function postsWithout(tx: ReadTx, { member }: Place): Promise<number> {
  return member.current_task_id === null && member.sent_count > 0 ? postsWithoutTask(tx, member.id) : 0;
}

async function currentTask(tx: ReadTx, place: Place): Promise<AgentWork['current_task']> {
  const { member } = place;
  if (member.current_task_id === null) return null;
  const [task] = await tasksWithIds(tx, [member.current_task_id]);
  if (!task) throw new Error(`task ${member.current_task_id} is missing`);
  const { stands } = await taskView(tx, place, task);
  return { ...taskRefView(task), owner: task.owner_id === member.id, stands };
}

async function ownLine(tx: ReadTx, { member }: Place): Promise<AgentWork['line']> {
  if ((await linesOf(tx, [member.id])).length === 0) return null;
  const reports = new Map((await reportsOf(tx, [member.id])).map((report) => [report.member_id, report]));
  const line = (await standingLines(tx, [member.id], reports)).get(member.id);
  if (!line) return null;
  const [task] = line.task_id === null ? [] : await tasksWithIds(tx, [line.task_id]);
  return lineView(line, task ? taskRefView(task) : null);
}

/** The board's brief, if this agent wrote its latest version. */
async function ownBrief(tx: ReadTx, place: Place): Promise<AgentWork['brief']> {
  const file = await liveBrief(tx, place.board.id);
  const brief = file ? (await briefViews(tx, [place], [file])).get(place.board.id) : undefined;
  if (brief?.by.id !== place.member.id) return null;
  const { file_id, name, version, at, freshness } = brief;
  const { messages_since, tasks_done_since } = freshness;
  return { file_id, name, version, at, messages_since, tasks_done_since };
}
