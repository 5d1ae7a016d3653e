/** Tasks, as a member reads them. */
import type { Actor, Task } from '../../../contract/types.ts';
import type { Place } from '../../access/board-access.ts';
import { type AskRow, openBlockingAsks } from '../../asks/asks.store.ts';
import type { ReadTx } from '../../db/tx.ts';
import { isReadable } from '../../messages/messages.store.ts';
import { type MessageCounts, messageCountsOf } from '../../tasks/tags.store.ts';
import { helpersOf, latestTexts, type TaskRow, type TextRow } from '../../tasks/tasks.store.ts';
import { idsIn, indexBy } from '../../text/rows.ts';
import { timestamp, timestampOrNull } from '../../text/time.ts';
import { actorsOf } from '../actors.ts';
import { staleTasks } from './stale.ts';
import { ownershipOf } from './task-refusals.ts';

/** Composes tasks of one board, with a fixed number of statements however many they are. */
export async function taskViews(tx: ReadTx, place: Place, tasks: readonly TaskRow[]): Promise<Task[]> {
  if (tasks.length === 0) return [];
  const stale = await staleTasks(tx, place.policy, tasks);
  const ids = idsIn(tasks);
  const helpers = Map.groupBy(await helpersOf(tx, ids), (helper) => helper.task_id);
  const texts = await latestTexts(tx, ids);
  const asks = Map.groupBy(await openBlockingAsks(tx, ids), (ask) => ask.task_id ?? '');
  const readable = await readableAsks(tx, place, [...asks.values()].flat());
  const talk = indexBy(await messageCountsOf(tx, ids, place.reader), 'task_id');
  const actor = await actorsOf(tx, place.reader, [
    ...tasks.flatMap((task) => [task.opened_by, ...(task.owner_id === null ? [] : [task.owner_id])]),
    ...[...helpers.values()].flat().map((helper) => helper.member_id),
    ...[...texts.values()].flatMap((both) => Object.values(both).map((text) => text.by_id)),
    ...readable.flatMap((ask) => [ask.from_id, ask.to_id]),
  ]);
  return tasks.map((task) => {
    const closed = task.closed_at !== null;
    const blocking = closed ? [] : (asks.get(task.id) ?? []);
    const shown = blocking.filter((ask) => readable.includes(ask));
    const said = talk.get(task.id);
    const { about, stands } = texts.get(task.id) ?? {};
    return {
      id: task.id,
      ref: task.ref,
      number: task.number,
      board: place.board.name,
      title: task.title,
      about: about ? textOf(about, actor) : null,
      stands: stands ? { ...textOf(stands, actor), messages_since: Number(said?.since ?? 0) } : null,
      state: task.state,
      owner: task.owner_id === null ? null : actor(task.owner_id),
      ...(task.owner_id === place.member.id && !closed ? { ownership: ownershipOf(task) } : {}),
      ...staleSince(stale.get(task.id)),
      with: (helpers.get(task.id) ?? []).map((helper) => actor(helper.member_id)),
      blocked: blocking.length > 0,
      blocked_count: blocking.length,
      blocked_on: shown.map((ask) => ({
        ask_id: ask.message_id,
        ask_seq: ask.seq,
        to: actor(ask.to_id),
        from: actor(ask.from_id),
        since: timestamp(ask.at),
      })),
      needs_you: blocking.some((ask) => ask.to_id === place.member.id),
      opened_by: actor(task.opened_by),
      opened_at: timestamp(task.opened_at),
      updated_at: timestamp(task.updated_at),
      closed_at: timestampOrNull(task.closed_at),
      closed_note: task.closed_note,
      ...countsOf(said),
    };
  });
}

export const taskView = async (tx: ReadTx, place: Place, task: TaskRow): Promise<Task> =>
  (await taskViews(tx, place, [task]))[0]!;

const staleSince = (at: number | undefined) => (at === undefined ? {} : { stale_since: timestamp(at) });

const countsOf = (talk: MessageCounts | undefined) => ({
  message_count: Number(talk?.messages ?? 0),
  thread_count: Number(talk?.threads ?? 0),
});

/** A version of a text with its author. */
export const textOf = (row: TextRow, actor: (id: string) => Actor) => ({
  text: row.text,
  by: actor(row.by_id),
  at: timestamp(row.at),
  version: row.version,
});

/** Those asks whose message the reader may read; the others count, and nothing else is told of them. */
async function readableAsks(tx: ReadTx, { reader }: Place, asks: AskRow[]): Promise<AskRow[]> {
  if (reader.readsAll || asks.length === 0) return asks;
  const ids = asks.map((ask) => ask.message_id);
  const readable = new Set(await isReadable(tx, ids, reader));
  return asks.filter((ask) => readable.has(ask.message_id));
}
