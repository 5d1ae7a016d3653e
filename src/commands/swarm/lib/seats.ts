/** Creates a swarm's board and its agents' seats where they are missing. */
import { createHash } from 'node:crypto';
import type { Output } from '../../../cli/output.ts';
import { runtime } from '../../../cli/runtime.ts';
import { atServer, type Session } from '../../../cli/session/open-session.ts';
import { savedSeats } from '../../../cli/session/own-seats.ts';
import { ClientError } from '../../../client/errors.ts';
import { patterns } from '../../../contract/ids.ts';
import type { Board, Member } from '../../../contract/types.ts';
import { usualRole } from '../../../contract/values.ts';
import { endedSeats, type Seat } from '../../../local/actors.ts';
import { Failure } from '../../../local/failure.ts';
import { readCredentials } from '../../../local/keys/credentials.ts';
import { createSeat } from '../../agent/lib/new-seat.ts';
import { allMembers } from '../../board/lib/list.ts';
import type { Planned } from './plan.ts';

export const ANOTHER_NAME = 'Give the agent another name in service.yaml';

const codeOf = (error: unknown): string | null => (error instanceof ClientError ? error.code : null);

/**
 * The board by name or id, made where there is none of that name. Of two that make it at once, the other one's is taken.
 * @throws Failure `role_not_found`, `name_taken` before it is made, for agents that could have no seat on it then
 */
export async function boardOf(
  { client, entry, server }: Session,
  name: string,
  agents: readonly Planned[],
): Promise<{ board: Board; created: boolean }> {
  const read = async () => (await client.call('getBoard', { params: { board: name } })).data;
  try {
    return { board: await read(), created: false };
  } catch (error) {
    if (codeOf(error) !== 'board_not_found' || !patterns.boardName.test(name)) throw error;
  }
  const people = entry?.person ? [entry.person.handle] : [];
  requireRoom(agents, { name, roles: [usualRole], people, isNew: true, at: atServer(server.url) });
  try {
    return { board: (await client.call('createBoard', { body: { name } })).data, created: true };
  } catch (error) {
    if (codeOf(error) !== 'board_name_taken') throw error;
    // One that cannot be seen is none of ours, and its name cannot be had.
    const board = await read().catch(() => {
      throw error;
    });
    return { board, created: false };
  }
}

/** @throws Failure `role_not_found`, `name_taken` for the first agent that can have no seat there */
function requireRoom(
  agents: readonly Planned[],
  {
    name: board,
    roles,
    people,
    isNew,
    at,
  }: { name: string; roles: string[]; people: string[]; isNew: boolean; at: string },
): void {
  const first = isNew ? `service board create ${board}${at} && ` : '';
  for (const { name, role = usualRole } of agents) {
    if (people.includes(name)) throw taken('name_taken', name, board, 'is the name of a person');
    if (!roles.includes(role))
      throw new Failure('role_not_found', `${board} has no role ${role}, which service.yaml gives ${name}.`, {
        hint: `Its roles: ${roles.join(', ')}. To add one: ${first}service board roles --set ${role} --can post,create_tasks --board ${board}${at}`,
      });
  }
}

/** What this machine holds of the agents of a board, by name. */
export function heldSeats(serverId: string, boardId: string): Map<string, Seat> {
  const seats = savedSeats().filter(({ entry, saved }) => entry.server_id === serverId && saved.board_id === boardId);
  return new Map(seats.map((seat) => [seat.saved.name, seat]));
}

/**
 * A seat for each agent. @returns them by name, and the names of those that were new
 * @throws Failure `role_not_found` before any is made; `agent_removed`, `name_taken` for a name that can no longer be had,
 * or not on this machine
 */
export async function seatsOf(
  session: Session,
  board: Board,
  agents: readonly Planned[],
  out: Output,
): Promise<{ seats: Map<string, Seat>; added: string[] }> {
  const serverId = session.entry!.server_id;
  const all = await allMembers(session.client, board.name, { removed: true });
  const of = (kind: Member['kind']) => all.filter((member) => member.kind === kind);
  const memberOf = new Map(of('agent').map((member) => [member.name, member]));
  const people = of('human').map(({ name }) => name);
  const fresh = agents.filter(({ name }) => !memberOf.has(name));
  const at = atServer(session.server.url);
  requireRoom(fresh, { name: board.name, roles: Object.keys(board.roles), people, isNew: false, at });
  const held = heldSeats(serverId, board.id);
  const added: string[] = [];
  for (const agent of agents) {
    const member = memberOf.get(agent.name);
    if (member && member.status !== 'active')
      throw taken('agent_removed', agent.name, board.name, 'is off it for good');
    if (member && agent.role !== undefined && member.role !== agent.role) warnRole(member, agent.role, at, out);
    if (held.has(agent.name)) continue;
    if (member && !(await replayable(session, board, agent, out)))
      throw (endedHere(member) ? keyEnded : elsewhere)(agent.name, board.name);
    if (!member) await makeSeat(session, board, agent, out);
    added.push(agent.name);
  }
  return { seats: heldSeats(serverId, board.id), added };
}

/** An agent has its role for life. */
const warnRole = ({ name, role, board }: Member, wanted: string, at: string, out: Output): void =>
  out.warn(
    'agent_role_differs',
    `${name} has the role ${role} on ${board} for life; service.yaml says ${wanted}.`,
    `Give the agent another name in service.yaml, or change what the role may do: service board roles --set ${role} --can GRANTS --board ${board}${at}`,
  );

/** How often in a day one is asked for in vain before the refusal is taken as said. */
const MAX_REFUSALS = 100;

/**
 * The same seat is asked for under the same keys, so that one whose answer was lost is found again for a day: with the token
 * that this machine never saved.
 */
async function makeSeat(session: Session, board: Board, agent: Planned, out: Output): Promise<void> {
  const body = { board: board.name, name: agent.name, role: agent.role, harness: agent.profile.harness };
  const about = [board.id, agent.name, agent.role ?? '', agent.profile.harness].join('\n');
  const same = `swarm.${createHash('sha256').update(about).digest('hex').slice(0, 32)}`;
  const make = (n = 0): Promise<unknown> =>
    createSeat({ ...session, board: board.name }, { body, key: `${same}.${n}`, printed: false, out }).catch((error) => {
      // A kept refusal is given again for a day, also where there is room by now; after each the next key is used.
      if (n < MAX_REFUSALS && codeOf(error) === 'limit_reached' && error.replayed) return make(n + 1);
      throw error;
    });
  try {
    await make();
  } catch (error) {
    const held = ['name_taken', 'idempotency_conflict'].includes(codeOf(error) ?? '');
    throw held ? elsewhere(agent.name, board.name) : error;
  }
}

/** Whether the seat that is there already is the one this machine asked for, and has it now. */
async function replayable(session: Session, board: Board, agent: Planned, out: Output): Promise<boolean> {
  try {
    await makeSeat(session, board, agent, out);
    return true;
  } catch (error) {
    if (error instanceof Failure && error.code === 'name_taken') return false;
    throw error;
  }
}

const elsewhere = (name: string, board: string): Failure =>
  taken('name_taken', name, board, 'is held by somebody else, or by another machine of yours');

/** Whether this machine has dropped its token, as the key that it was made with has ended. */
const endedHere = ({ id }: Member): boolean =>
  endedSeats(readCredentials(runtime().folders)).some((seat) => seat.memberId === id && seat.saved.key_ended_at);

const keyEnded = (name: string, board: string): Failure =>
  taken('name_taken', name, board, 'is not let in any more, as its key has ended; its name stays taken');

const taken = (code: string, name: string, board: string, what: string): Failure =>
  new Failure(code, `${name} on ${board} ${what}.`, { hint: ANOTHER_NAME });
