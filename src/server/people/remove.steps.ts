/** What ends with a person on the server: all they can act with, and every membership. */
import type { PersonRemoval } from '../../contract/types.ts';
import { actorOn } from '../access/acting.ts';
import { type BoardRow, lockBoardById } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { endMembership } from '../members/endings.steps.ts';
import { countOwners, countPeople } from '../members/member-counts.store.ts';
import { memberById } from '../members/members.store.ts';
import { activeHuman, boardIdsOf, longestStanding } from '../members/memberships.store.ts';
import type { Authorized } from '../members/owners.steps.ts';
import { makeOwnerBySystem } from '../members/owners.steps.ts';
import type { Caller } from '../operation/caller.ts';
import { type PersonRow, reserveHandles, savePerson } from './people.store.ts';
import { endCredentials } from './removal.steps.ts';

export type Counts = Omit<PersonRemoval, 'person' | 'dry_run'>;

export interface Removal {
  /** On whose authority. */
  caller: Caller;
  /** The agent that asked for it acts on its own board. */
  agentId?: string;
  why?: Authorized;
}

/** Removes a person who is there; whether the server may lose them is decided before. The people are held. */
export async function endPerson(tx: WriteTx, person: PersonRow, removal: Removal): Promise<Counts> {
  const { caller } = removal;
  const { keys, sessions } = await endCredentials(tx, person.id);
  await reserveHandles(tx, person.id, [person.handle]);
  // Before the boards are read: whoever brings them onto one holds their row, and finds nobody from here on.
  await savePerson(tx, person.id, { removed_at: tx.now, removed_by: caller.person.person_id });
  tx.publish(`credential:${person.id}`);
  tx.publish(`account:${person.id}`);
  return { keys_revoked: keys, browser_sessions_ended: sessions, ...(await leaveEveryBoard(tx, person, removal)) };
}

/** In the order of the boards' ids, so that two of these never wait for each other. */
async function leaveEveryBoard(
  tx: WriteTx,
  person: PersonRow,
  { caller, agentId, why }: Removal,
): Promise<Omit<Counts, 'keys_revoked' | 'browser_sessions_ended'>> {
  const counts = { agents_removed: 0, boards_left: 0, owners_passed: 0, unreachable_boards: [] as string[] };
  for (const id of await boardIdsOf(tx, person.id)) {
    const board = await lockBoardById(tx, id);
    const member = await activeHuman(tx, id, person.id);
    if (!board || board.lifecycle === 'deleted' || !member) continue;
    const agent = agentId === undefined ? undefined : await memberById(tx, agentId);
    const own = agent?.board_id === id ? agent : undefined;
    const actor = actorOn(own ?? (await activeHuman(tx, id, caller.person.person_id)) ?? null, caller);
    counts.agents_removed += (
      await endMembership(tx, board, member, { actor, how: 'removed_from_server', why })
    ).length;
    counts.boards_left++;
    if (await passOn(tx, board)) counts.owners_passed++;
    if (board.visibility === 'private' && (await countPeople(tx, id)) === 0) counts.unreachable_boards.push(id);
  }
  return counts;
}

/** A board without an owner goes to whoever has been there longest and is no guest; answers whether anybody could take it. */
async function passOn(tx: WriteTx, board: BoardRow): Promise<boolean> {
  if ((await countOwners(tx, board.id)) > 0) return false;
  const heir = await longestStanding(tx, board.id);
  if (heir) await makeOwnerBySystem(tx, board, heir, 'owner_removed_from_server');
  return heir !== undefined;
}
