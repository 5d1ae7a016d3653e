/** What ends with a person on the server, for the operation itself and for the approval of an agent's request. */
import type { PersonRemoval } from '../../contract/types.ts';
import { closeForPerson } from '../approvals/closings.steps.ts';
import { settingFor } from '../approvals/requester.steps.ts';
import { type BoardRow, lockBoardById } from '../boards/boards.store.ts';
import { endBrowsersOf } from '../browsers/sessions.steps.ts';
import type { WriteTx } from '../db/tx.ts';
import { endDelegations } from '../delegations/delegations.store.ts';
import { revokeInvitesOf } from '../invites/invites.store.ts';
import { lockWorkingKeys, setRevoked } from '../keys/keys.store.ts';
import { voidApproved } from '../machines/machines.store.ts';
import { endMembership } from '../members/end-members.steps.ts';
import { lockSeats } from '../members/end-members.store.ts';
import { countOwners, countPeople } from '../members/member-counts.store.ts';
import { activeAgentsOfPerson, activeHuman, boardIdsOf, longestStanding } from '../members/memberships.store.ts';
import { makeOwnerBySystem } from '../members/owners.steps.ts';
import type { Caller } from '../operation/caller.ts';
import type { Authorized } from '../record/append.steps.ts';
import { audit } from '../record/audit.steps.ts';
import { type PersonRow, reserveHandles, savePerson } from './people.store.ts';
import { lockedOut, requireAdminLeft } from './role.steps.ts';

type Ended = Omit<PersonRemoval, 'person' | 'dry_run'>;

interface Removal {
  /** On whose authority. */
  caller: Caller;
  requestId: string;
  /** The agent that asked for it; on its own board it is the actor. */
  agentId?: string;
  why?: Authorized;
}

/**
 * Removes a person who is on the server; answers what ended with them. The people are locked.
 * @throws Refusal `last_admin`, before anything is changed.
 */
export async function removeFromServer(tx: WriteTx, person: PersonRow, removal: Removal): Promise<Ended> {
  const { caller: by, requestId } = removal;
  await requireAdminLeft(tx, person);
  const ended = await endCredentials(tx, person.id, removal);
  await reserveHandles(tx, person.id, [person.handle]);
  // Before the boards are read: who adds somebody to a board locks the person's row, and finds nobody from here on.
  await savePerson(tx, person.id, { removed_at: tx.now, removed_by: by.person.person_id });
  tx.publish(`credential:${person.id}`);
  tx.publish(`account:${person.id}`);
  const counts = { ...ended, ...(await leaveEveryBoard(tx, person, removal)) };
  await audit(tx, { action: 'person.removed', by, target: person.id, requestId, details: counts });
  return { ...counts, ...(await lockedOut(tx)) };
}

/**
 * Ends a person's credentials and what they or their agents have handed out that could still be used; counts what worked
 * until now.
 */
async function endCredentials(tx: WriteTx, personId: string, { caller: by, requestId }: Removal) {
  const keys = await lockWorkingKeys(tx, personId);
  await endDelegations(tx, { person_id: personId }, 'person_removed');
  await lockSeats(tx, { of: { person: personId } });
  // Counted while the keys they depend on work.
  const sessions = await endBrowsersOf(tx, personId);
  await setRevoked(tx, keys);
  const noted = { by, requestId, details: { with_person: personId } };
  for (const id of keys) {
    await audit(tx, { action: 'key.revoked', target: id, ...noted });
    tx.publish(`credential:${id}`);
  }
  await voidApproved(tx, personId);
  for (const id of await revokeInvitesOf(tx, { created_by: personId }))
    await audit(tx, { action: 'invite.revoked', target: id, ...noted });
  await closeForPerson(tx, personId);
  return { keys_revoked: keys.length, browser_sessions_ended: sessions };
}

/** In the order of the boards' ids, so that two of these never wait for each other. */
async function leaveEveryBoard(tx: WriteTx, person: PersonRow, { caller, agentId, why }: Removal) {
  const counts = { agents_removed: 0, boards_left: 0, owners_passed: 0, unreachable_boards: [] as string[] };
  // Once for all boards: nobody joins by the credentials that have ended, and one board's are found among those of all.
  const agents = Map.groupBy(await activeAgentsOfPerson(tx, person.id), (agent) => agent.board_id);
  for (const id of await boardIdsOf(tx, person.id)) {
    const board = await lockBoardById(tx, id);
    const member = await activeHuman(tx, id, person.id);
    if (!board || board.lifecycle === 'deleted' || !member) continue;
    const setting = await settingFor(tx, board, { person: caller, agentId });
    const here = agents.get(id) ?? [];
    await endMembership(setting, member, 'removed_from_server', why, here);
    counts.agents_removed += here.length;
    counts.boards_left++;
    if (await passOn(tx, board)) counts.owners_passed++;
    if (board.visibility === 'private' && (await countPeople(tx, id)) === 0) counts.unreachable_boards.push(id);
  }
  return counts;
}

/** Makes the person who has been there longest, and is no guest, the owner of a board without one; answers whether it could. */
async function passOn(tx: WriteTx, board: BoardRow): Promise<boolean> {
  if ((await countOwners(tx, board.id)) > 0) return false;
  const heir = await longestStanding(tx, board.id);
  if (heir) await makeOwnerBySystem(tx, board, heir, 'owner_removed_from_server');
  return heir !== undefined;
}
