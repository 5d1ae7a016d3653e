/** Who is on a board. */
import { memberNotFound } from '../access/authority.ts';
import { onBoard, seeBoard } from '../access/board-access.ts';
import type { ReadCase } from '../operation/usecase.ts';
import { agentsOfPerson } from '../seats/agents.store.ts';
import { cut } from '../text/cut.ts';
import { memberView, memberViews, ownAgentViews } from '../views/member.ts';
import { boardPersonView } from '../views/person.ts';
import { findMember, listMemberRows, membersById } from './members.store.ts';

export const listBoardPeople: ReadCase<'listBoardPeople'>['run'] = async (tx, caller, { params, query }) => {
  const { board } = await seeBoard(tx, caller, params.board);
  const rows = await listMemberRows(tx, {
    boardId: board.id,
    kind: 'human',
    ended: false,
    after: query.after,
    limit: query.limit + 1,
  });
  const { page, next_after } = cut(rows, query.limit, ({ id }) => id);
  const people = page.map((row) => boardPersonView(row, board.name));
  return { board: board.name, visibility: board.visibility, people, next_after };
};

export const listMembers: ReadCase<'listMembers'>['run'] = async (tx, caller, { params, query }) => {
  const place = await onBoard(tx, caller, params.board);
  const rows = await listMemberRows(tx, {
    boardId: place.board.id,
    kind: query.kind,
    ended: query.removed,
    after: query.after,
    limit: query.limit + 1,
  });
  const { page, next_after } = cut(rows, query.limit, ({ id }) => id);
  return { members: await memberViews(tx, page, place, caller), next_after };
};

export const getMember: ReadCase<'getMember'>['run'] = async (tx, caller, { params }) => {
  const place = await onBoard(tx, caller, params.board);
  const found = await findMember(tx, place.board.id, params.member);
  if (!found) throw memberNotFound(place);
  return memberView(tx, found, place, caller);
};

/** The agents of the caller's person wherever they are; a guest's agent hears of those on its own board only. */
export const listMyAgents: ReadCase<'listMyAgents'>['run'] = async (tx, caller, { query }) => {
  const guarded = caller.kind === 'AG' && caller.person.server_role === 'guest';
  const rows = await agentsOfPerson(tx, {
    personId: caller.person.person_id,
    ...(guarded ? { boardId: caller.seat.board_id } : {}),
    after: query.after,
    limit: query.limit + 1,
  });
  const { page, next_after } = cut(rows, query.limit, ({ id }) => id);
  const ids = page.map((row) => row.id);
  const found = await membersById(tx, ids);
  const agents = page.flatMap((row) => {
    const agent = found.get(row.id);
    return agent ? [{ agent, board: { id: row.board_id, name: row.board_name } }] : [];
  });
  return { agents: await ownAgentViews(tx, agents, caller), next_after };
};
