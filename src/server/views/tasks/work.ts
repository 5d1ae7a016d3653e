/** What agents work on and what waits for them, as their inboxes tell it. */
import type { AgentWork, Brief } from '../../../contract/types.ts';
import type { Place } from '../../access/board-access.ts';
import { countOpenAsks } from '../../asks/asks.store.ts';
import type { ReadTx } from '../../db/tx.ts';
import { briefsOf, latestVersions } from '../../files/files.store.ts';
import { linesOf } from '../../lines/lines.store.ts';
import { reportsOf } from '../../seats/reports.store.ts';
import { countMessagesAfter } from '../../tasks/tags.store.ts';
import { countOpenTasks, latestTexts, tasksWithIds } from '../../tasks/tasks.store.ts';
import { oldestOpenTask, postsWithoutTask } from '../../tasks/work.store.ts';
import { idsIn, indexBy } from '../../text/rows.ts';
import { actorsOf } from '../actors.ts';
import { briefViews } from '../file.ts';
import { lineView, standingLines } from '../line.ts';
import { textOf } from './task.ts';
import { taskRefView } from './task-ref.ts';

/** For each of these agents, in their order. Counts only what each may see. */
export async function workViews(tx: ReadTx, places: readonly Place[]): Promise<AgentWork[]> {
  const memberIds = places.map(({ member }) => member.id);
  const tasks = await openTasks(tx, [...new Set(places.map(({ board }) => board.id))]);
  const asks = await countOpenAsks(tx, memberIds);
  const lines = await ownLines(tx, memberIds);
  const briefs = await ownBriefs(tx, places);
  const views = places.map(async (place): Promise<AgentWork> => {
    const { board, member } = place;
    const { own = 0, blocking = 0, going_with = 0 } = asks.get(member.id) ?? {};
    return {
      current_task: await currentTask(tx, place),
      open_tasks: tasks.get(board.id)?.count ?? 0,
      oldest_open: tasks.get(board.id)?.oldest ?? null,
      posts_without_task: await postsWithout(tx, place),
      asks_waiting: own,
      asks_to_it: blocking + going_with,
      line: lines.get(member.id) ?? null,
      brief: briefs.get(member.id) ?? null,
      nudges: place.policy.nudges !== 'off',
    };
  });
  return Promise.all(views);
}

async function openTasks(tx: ReadTx, boardIds: string[]) {
  const open = new Map<string, { count: number; oldest: AgentWork['oldest_open'] }>();
  for (const { board_id, count } of await countOpenTasks(tx, boardIds)) {
    const oldest = await oldestOpenTask(tx, board_id);
    open.set(board_id, { count: Number(count), oldest: oldest ? taskRefView(oldest) : null });
  }
  return open;
}

/** Nothing is read for an agent that is on a task or has said nothing yet. */
async function postsWithout(tx: ReadTx, { member }: Place): Promise<number> {
  return member.current_task_id === null && member.sent_count > 0 ? postsWithoutTask(tx, member.id) : 0;
}

async function currentTask(tx: ReadTx, place: Place): Promise<AgentWork['current_task']> {
  const { member, reader } = place;
  if (member.current_task_id === null) return null;
  const [task] = await tasksWithIds(tx, [member.current_task_id]);
  if (!task) throw new Error(`task ${member.current_task_id} is missing`);
  const stands = (await latestTexts(tx, [task.id])).get(task.id)?.stands;
  return {
    ...taskRefView(task),
    owner: task.owner_id === member.id,
    stands: stands
      ? {
          ...textOf(stands, await actorsOf(tx, reader, [stands.by_id])),
          messages_since: await countMessagesAfter(tx, task.id, stands.seq, reader),
        }
      : null,
  };
}

async function ownLines(tx: ReadTx, memberIds: string[]): Promise<Map<string, NonNullable<AgentWork['line']>>> {
  const saying = (await linesOf(tx, memberIds)).map((line) => line.member_id);
  if (saying.length === 0) return new Map();
  const reports = indexBy(await reportsOf(tx, saying), 'member_id');
  const lines = [...(await standingLines(tx, saying, reports)).values()];
  const about = lines.flatMap(({ task_id }) => task_id ?? []);
  const tasks = new Map((await tasksWithIds(tx, about)).map((task) => [task.id, taskRefView(task)]));
  return new Map(lines.map((line) => [line.member_id, lineView(line, tasks.get(line.task_id ?? '') ?? null)]));
}

/** The boards' briefs, each for the agent that wrote its latest version. */
async function ownBriefs(tx: ReadTx, places: readonly Place[]): Promise<Map<string, NonNullable<AgentWork['brief']>>> {
  const files = await briefsOf(tx, [...new Set(places.map(({ board }) => board.id))]);
  if (files.length === 0) return new Map();
  const ids = idsIn(files);
  const writers = new Set((await latestVersions(tx, ids)).map((version) => version.by_id));
  const writing = places.filter(({ member }) => writers.has(member.id));
  const boards = new Set(writing.map(({ board }) => board.id));
  const own = files.filter((file) => boards.has(file.board_id));
  const briefs = [...(await briefViews(tx, writing, own)).values()];
  return new Map(briefs.map((brief) => [brief.by.id, briefOf(brief)]));
}

function briefOf({ file_id, name, version, at, freshness }: Brief): NonNullable<AgentWork['brief']> {
  const { messages_since, tasks_done_since } = freshness;
  return { file_id, name, version, at, messages_since, tasks_done_since };
}
