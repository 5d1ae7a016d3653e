/** Who is on a board. */
import { Refusal } from '../../contract/errors.ts';
import type { ReadCase } from '../operation/usecase.ts';
import { memberView } from '../views/actors.ts';
import { boardPersonView } from '../views/person.ts';
import { onBoard, readerOf, seeBoard } from '../views/place.ts';
import { findMember, listMemberRows } from './members.store.ts';

export const listBoardPeople: ReadCase<'listBoardPeople'>['run'] = async (tx, caller, { params, query }) => {
  const { board } = await seeBoard(tx, caller, params['board'] ?? '');
  const rows = await listMemberRows(tx, {
    boardId: board.id,
    kind: 'human',
    ended: false,
    after: query.after,
    limit: query.limit + 1,
  });
  const page = rows.slice(0, query.limit);
  return {
    board: board.name,
    visibility: board.visibility,
    people: page.map((row) => boardPersonView(row, board.name)),
    next_after: rows.length > query.limit ? (page.at(-1)?.id ?? null) : null,
  };
};

export const listMembers: ReadCase<'listMembers'>['run'] = async (tx, caller, { params, query }) => {
  const place = await onBoard(tx, caller, params['board'] ?? '');
  const rows = await listMemberRows(tx, {
    boardId: place.board.id,
    kind: query.kind,
    ended: query.removed,
    after: query.after,
    limit: query.limit + 1,
  });
  const page = rows.slice(0, query.limit);
  const reader = readerOf(place.member, place.policy);
  return {
    members: page.map((row) => memberView(row, place, reader, caller)),
    next_after: rows.length > query.limit ? (page.at(-1)?.id ?? null) : null,
  };
};

export const getMember: ReadCase<'getMember'>['run'] = async (tx, caller, { params }) => {
  const place = await onBoard(tx, caller, params['board'] ?? '');
  const ref = params['member'] ?? '';
  const found = await findMember(tx, place.board.id, ref);
  if (!found) {
    throw new Refusal('member_not_found', `There is no such member on ${place.board.name}.`, {
      hint: `service board members --board ${place.board.name} shows who is on it.`,
    });
  }
  return memberView(found, place, place.reader, caller);
};
