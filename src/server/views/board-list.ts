/** Several boards: what only a list of them tells (who brought its reader there, how much was written of late), and their names. */
import type { Board, BoardLabel } from '../../contract/types.ts';
import type { VisibleBoard } from '../access/board-access.ts';
import { boardsWithIds, visibleIds } from '../boards/boards.store.ts';
import type { ReadTx } from '../db/tx.ts';
import { arrivalsUnread, latestAgents } from '../members/arrivals.store.ts';
import { dayOf, daysFrom } from '../messages/days.store.ts';
import type { Caller } from '../operation/caller.ts';
import { actorOf, dataOf } from '../record/event-data.rules.ts';
import { idsIn } from '../text/rows.ts';
import { timestamp } from '../text/time.ts';
import { boardViews } from './board.ts';

/** @param days how many days of activity are asked for. */
export async function boardListViews(tx: ReadTx, caller: Caller, visible: VisibleBoard[], days: number) {
  const views = await boardViews(tx, caller, visible);
  const own = caller.kind === 'AG' ? [] : visible.flatMap(({ board, member }) => (member ? [{ board, member }] : []));
  if (own.length === 0) return views;
  const added = await addedTo(tx, caller, own);
  const active = days > 0 ? await activityOf(tx, own, days) : new Map<string, number[]>();
  return views.map((view) => {
    const [by, counts] = [added.get(view.id), active.get(view.id)];
    return { ...view, ...(counts ? { activity: counts } : {}), ...(by ? { added: by } : {}) };
  });
}

type Own = Pick<VisibleBoard, 'board'> & { member: NonNullable<VisibleBoard['member']> };

/**
 * Somebody else brought them, and they have done nothing there since. Nothing remembers that they saw it: the position
 * starts at the event that brought them, so while it still stands there, nothing was read.
 */
export async function addedTo(tx: ReadTx, caller: Caller, own: Own[]) {
  const arrivals = await arrivalsUnread(tx, idsIn(own.map(({ member }) => member)));
  const found = new Map<string, NonNullable<Board['added']>>();
  if (arrivals.length === 0) return found;
  const ids = arrivals.map((row) => row.board_id);
  const latest = new Map((await latestAgents(tx, caller.person.person_id, ids)).map((row) => [row.board_id, row.at]));
  for (const { board_id, member_id, seq, at, actor, data } of arrivals) {
    const by = actorOf({ actor });
    const brought = dataOf({ data })?.['member_id'];
    if (brought !== member_id || by.member_id === member_id || (latest.get(board_id) ?? 0) >= at) continue;
    found.set(board_id, { seq, at: timestamp(at), by });
  }
  return found;
}

async function activityOf(tx: ReadTx, own: Own[], days: number): Promise<Map<string, number[]>> {
  const first = dayOf(tx.now) - days + 1;
  const rows = await daysFrom(tx, idsIn(own.map(({ board }) => board)), first);
  const byBoard = Map.groupBy(rows, (row) => row.board_id);
  return new Map(
    own.map(({ board }) => {
      const counts = Array.from({ length: days }, () => 0);
      const begun = byBoard.get(board.id) ?? [];
      for (const [index, { day, before }] of begun.entries()) {
        counts[day - first] = (begun[index + 1]?.before ?? board.message_count) - before;
      }
      // A board whose time is ahead of ours has no day for that yet.
      return [board.id, counts.slice(0, days)];
    }),
  );
}

/** Of these boards, those that the caller's person sees now. */
export async function boardLabels(tx: ReadTx, { person }: Pick<Caller, 'person'>, ids: string[]) {
  const scope = { personId: person.person_id, open: person.server_role !== 'guest' };
  const boards = await boardsWithIds(tx, [...(await visibleIds(tx, scope, [...new Set(ids)]))]);
  return new Map<string, BoardLabel>(boards.map(({ id, name, title }) => [id, { id, name, title }]));
}
