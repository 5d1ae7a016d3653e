/** What the tests of approvals have in common. */
import type { AdminAction, Approval } from '../../../src/contract/types.ts';
import type { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard } from '../../support/cast.ts';
import type { TestServer } from '../../support/server.ts';

export type Wanted = { kind: AdminAction['kind'] } & Record<string, unknown>;

let count = 0;

export interface Scene {
  /** An admin of the server who owns the board. */
  ana: Api;
  board: { id: string; name: string };
  agent: Agent;
  /** Somebody else of the server, not on the board. */
  bob: Api;
  bobHandle: string;
}

/** An admin with an agent on a board of their own, and somebody to do things with. */
export async function scene(server: TestServer, session?: string): Promise<Scene> {
  const n = ++count;
  const ana = await server.person(`ana-${n}`, 'admin');
  const bob = await server.person(`bob-${n}`);
  const { id, name } = await newBoard(ana);
  const agent = await newAgent(ana, name, session === undefined ? {} : { session });
  return { ana, bob, bobHandle: `bob-${n}`, board: { id, name }, agent };
}

export const ask = (agent: Api, body: Wanted, key?: string) =>
  agent.call('requestAdminAction', { body, ...(key === undefined ? {} : { key }) });

/** Asks for something that is held; answers the request. */
export async function held(agent: Api, body: Wanted): Promise<Approval> {
  const answer = await ask(agent, body);
  if (answer.status !== 202) throw new Error(`not held: ${answer.text}`);
  return answer.body.approval;
}

export const allow = (person: Api, { id }: { id: string }, body: Record<string, unknown> = {}) =>
  person.call('allowApproval', { params: { approval: id }, body });

export const decline = (person: Api, { id }: { id: string }) =>
  person.call('declineApproval', { params: { approval: id } });

export const collect = (agent: Api, { id }: { id: string }, key?: string) =>
  agent.call('collectApproval', { params: { approval: id }, ...(key === undefined ? {} : { key }) });

export const look = async (api: Api, { id }: { id: string }): Promise<Approval> =>
  (await api.ok('getApproval', { params: { approval: id } })).approval;

export const addBob = ({ board, bob }: Scene): Wanted => ({
  kind: 'add_people',
  board_id: board.id,
  person_id: bob.personId ?? '',
});

export const invitePeople = (invite: Record<string, unknown> = {}): Wanted => ({ kind: 'invite_people', invite });

export const codeOf = ({ status, code }: { status: number; code: string | undefined }): string => `${status} ${code}`;

/** The event log of a board, from a number on. */
export const eventsOf = async (api: Api, board: string, type: string) =>
  (await api.ok('listEvents', { params: { board }, query: { type, limit: 200 } })).events;

/** Columns of the sealed outcome of an approval. */
export const capsule = async (server: TestServer, { id }: { id: string }) => {
  const [row] = await server.db.read((tx) =>
    tx.query<{
      ciphertext: Buffer | null;
      nonce: Buffer | null;
      winning_key_hash: Buffer | null;
      clear_reason: string;
    }>((db) => db('approval_outcomes').where('approval_id', id).select('*')),
  );
  return row;
};
