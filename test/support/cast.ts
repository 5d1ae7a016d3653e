/** Boards and agents that tests tell their stories with. */
import type { Board } from '../../src/contract/types.ts';
import { Api } from './api.ts';

let boards = 0;

/** A board of its own for one test; its name is none that the server would choose. */
export function newBoard(owner: Api, body: Record<string, unknown> = {}): Promise<Board> {
  return owner.ok('createBoard', { body: { name: `room-${++boards}`, ...body } });
}

/** A board of `owner` that the people with these handles are on too. */
export async function newBoardWith(owner: Api, handles: string[], body: Record<string, unknown> = {}): Promise<Board> {
  const board = await newBoard(owner, body);
  for (const handle of handles) await owner.ok('addBoardPerson', { params: { board: board.name }, body: { handle } });
  return board;
}

export interface Agent extends Api {
  memberId: string;
  name: string;
}

/** An agent of this person on a board. */
export async function newAgent(owner: Api, board: string, body: Record<string, unknown> = {}): Promise<Agent> {
  const { agent, token } = await owner.ok('joinBoard', { body: { board, role: 'member', ...body } });
  return Object.assign(new Api(owner.url, token), { memberId: agent.id, name: agent.name });
}

/** Posts a text; answers the message. */
export const post = (from: Api, board: string, body: string, more: Record<string, unknown> = {}) =>
  from.ok('postMessage', { params: { board }, body: { body, ...more } });

/** A machine's delegation of a person. */
export async function newDelegation(person: Api, name = 'laptop'): Promise<Api & { id: string }> {
  const { id, token } = await person.ok('createDelegation', { body: { name } });
  return Object.assign(new Api(person.url, token), { id });
}

/** A join code of a board. */
export const newCode = (from: Api, board: string, body: Record<string, unknown> = {}) =>
  from.ok('createJoinCode', { params: { board }, body: { role: 'member', ...body } as { role: string } });
