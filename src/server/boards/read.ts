/** Reading boards: the list, one record, the templates. */
import type { HiddenBoard, Query } from '../../contract/types.ts';
import { seeBoard, type VisibleBoard } from '../access/board-access.ts';
import type { ReadTx } from '../db/tx.ts';
import { ownMemberships } from '../members/memberships.store.ts';
import { type Caller, isAdmin } from '../operation/caller.ts';
import type { ReadCase } from '../operation/usecase.ts';
import { cut } from '../text/cut.ts';
import { timestamp } from '../text/time.ts';
import { boardView } from '../views/board.ts';
import { boardListViews } from '../views/board-list.ts';
import { type BoardRow, countArchived, listBoardRows, listHiddenRows, parsePolicy } from './boards.store.ts';
import { templates } from './templates.rules.ts';

export const getBoard: ReadCase<'getBoard'>['run'] = async (tx, caller, { params }) =>
  boardView(tx, caller, await seeBoard(tx, caller, params.board));

export const listTemplates: ReadCase<'listTemplates'>['run'] = async () => ({ templates: [...templates] });

export const listBoards: ReadCase<'listBoards'>['run'] = async (tx, caller, { query }) => {
  const scope = scopeOf(caller, query.all);
  const { lifecycle, after, limit } = query;
  const rows = await listBoardRows(tx, { ...scope, lifecycle, after, limit: limit + 1 });
  const { page, next_after } = cut(rows, limit, ({ name }) => name);
  const hidden = query.all && caller.kind !== 'DG' ? await hiddenBoards(tx, caller, query) : null;
  return {
    boards: await boardListViews(tx, caller, await visibleBoards(tx, caller, page), query.activity),
    archived_count: await countArchived(tx, scope),
    ...(hidden ? { hidden_boards: hidden.boards } : {}),
    next_after,
    next_hidden_after: hidden?.next_after ?? null,
  };
};

function scopeOf(caller: Caller, all: boolean) {
  const personId = caller.person.person_id;
  if (caller.kind === 'AG') return { personId, open: false, boardId: caller.seat.board_id };
  // A delegation brings sessions onto boards, so it is shown all it could bring them onto.
  return { personId, open: (all || caller.kind === 'DG') && caller.person.server_role !== 'guest' };
}

async function visibleBoards(tx: ReadTx, caller: Caller, rows: BoardRow[]): Promise<VisibleBoard[]> {
  const ids = rows.map((row) => row.id);
  const members = caller.kind === 'AG' ? [caller.seat] : await ownMemberships(tx, caller.person.person_id, ids);
  const own = new Map(members.map((row) => [row.board_id, row]));
  return rows.map((board) => ({ board, policy: parsePolicy(board), member: own.get(board.id) ?? null }));
}

async function hiddenBoards(
  tx: ReadTx,
  caller: Caller,
  { lifecycle, hidden_after: after, limit }: Query<'listBoards'>,
): Promise<{ boards: HiddenBoard[]; next_after: string | null }> {
  if (!isAdmin(caller)) return { boards: [], next_after: null };
  const personId = caller.person.person_id;
  const rows = await listHiddenRows(tx, { personId, lifecycle, after, limit: limit + 1 });
  const { page, next_after } = cut(rows, limit, ({ id }) => id);
  const boards = page.map((row) => ({
    id: row.id,
    visibility: 'private' as const,
    lifecycle: row.lifecycle,
    created_at: timestamp(row.created_at),
    created_by: { id: row.creator_person_id, handle: row.creator_handle },
    people: Number(row.people),
    can_archive: row.lifecycle === 'active',
    can_restore: row.lifecycle === 'archived',
    can_delete: row.lifecycle === 'archived',
  }));
  return { boards, next_after };
}
