/** Who is on a board. */
import { Refusal } from '../../contract/errors.ts';
import { onBoard, seeBoard } from '../access/board-access.ts';
import type { ReadCase } from '../operation/usecase.ts';
import { agentsOfPerson } from '../seats/agents.store.ts';
import { memberView, memberViews, ownAgentViews } from '../views/member.ts';
import { boardPersonView } from '../views/person.ts';
import { findMember, listMemberRows, membersWithIds } from './members.store.ts';

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
  return {
    members: await memberViews(tx, page, place, caller),
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
  const page = rows.slice(0, query.limit);
  const found = new Map(
    (
      await membersWithIds(
        tx,
        page.map((row) => row.id),
      )
    ).map((agent) => [agent.id, agent]),
  );
  const agents = page.flatMap((row) => {
    const agent = found.get(row.id);
    return agent ? [{ agent, board: { id: row.board_id, name: row.board_name } }] : [];
  });
  return {
    agents: await ownAgentViews(tx, agents, caller),
    next_after: rows.length > query.limit ? (page.at(-1)?.id ?? null) : null,
  };
};
