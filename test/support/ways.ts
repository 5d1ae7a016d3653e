/** Ways to call an operation: one for each kind of caller that it takes, on a board of their own. */
import type { OperationRow } from '../../src/contract/operation.ts';
import { type OperationName, operations } from '../../src/contract/operations.ts';
import type { Api, Call } from './api.ts';
import { newAgent, newBoard, newDelegation, post } from './cast.ts';
import { goodCall, type Stage } from './good-calls.ts';
import type { TestServer } from './server.ts';
import { newBrowser, putOnBoard } from './state.ts';

/** A board with who calls operations about it. */
export interface Scene extends Stage {
  server: TestServer;
  boardId: string;
  person: Api;
  /** The person's. */
  agent: Api;
}

export interface Way {
  caller: Api;
  call: Call;
}

/** @param person who acts on it, else the creator of the board. */
export async function newScene(server: TestServer, person = server.dana): Promise<Scene> {
  const { id: boardId, name: board } = await newBoard(server.dana);
  const message = (await post(server.dana, board, 'before')).id;
  if (person !== server.dana) await putOnBoard(server, board, person);
  return { server, board, boardId, message, person, agent: await newAgent(person, board) };
}

/** A good call by each kind of caller that the operation takes, but for the endpoints of pairings. */
export async function goodWays(name: OperationName, { server, person, agent, ...stage }: Scene): Promise<Way[]> {
  const { credentials }: OperationRow = operations[name];
  const call = goodCall(name, stage);
  if (credentials.length === 0 || credentials.includes('IN')) return [{ caller: server.nobody, call }];
  return [
    ...(credentials.includes('PK') ? [{ caller: person, call }] : []),
    ...(credentials.includes('BR') ? [{ caller: await newBrowser(server, person), call }] : []),
    ...(credentials.includes('AG') ? [{ caller: agent, call }] : []),
    ...(credentials.includes('DG') ? [{ caller: await newDelegation(person), call }] : []),
  ];
}
