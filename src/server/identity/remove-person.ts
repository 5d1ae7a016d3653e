/** Removing a person from the server: all they can act with ends, and they leave every board. Their messages stay. */
import type { PersonRemoval } from '../../contract/types.ts';
import { type BoardRow, lockBoardById } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { endMembership } from '../seats/endings.steps.ts';
import { activeHuman, boardIdsOf, countOwners, countPeople, longestStanding } from '../seats/members.store.ts';
import { makeOwnerBySystem } from '../seats/owners.steps.ts';
import { actorOn } from '../views/actors.ts';
import { personView } from '../views/person.ts';
import { audit } from './audit.steps.ts';
import { lastAdmin, personNotFound, requireAdmin } from './people.rules.ts';
import { countAdmins, holdPeople, type PersonRow, personByHandle, reserveHandles, savePerson } from './people.store.ts';
import { endCredentials } from './removal.steps.ts';

export const removePerson: WriteCase<'removePerson'> = {
  before: holdPeople,
  async run(tx, caller, { params, query: { dry_run }, requestId }) {
    requireAdmin(caller.person, 'remove people');
    caller.shown.need = 'admin';
    const person = await personByHandle(tx, params['handle'] ?? '');
    if (!person) throw personNotFound();
    if (person.server_role === 'admin' && (await countAdmins(tx)) === 1) throw lastAdmin(person);
    const counts = await remove(tx, caller, person);
    await audit(tx, { action: 'person.removed', by: caller, target: person.id, requestId, details: counts });
    return { answer: { person: personView(person), dry_run, ...counts }, tried: dry_run };
  },
};

type Counts = Omit<PersonRemoval, 'person' | 'dry_run'>;

async function remove(tx: WriteTx, caller: Caller, person: PersonRow): Promise<Counts> {
  const { keys, sessions } = await endCredentials(tx, person.id);
  await reserveHandles(tx, person.id, [person.handle]);
  // Before the boards are read: whoever brings them onto one holds their row, and finds nobody from here on.
  await savePerson(tx, person.id, { removed_at: tx.now, removed_by: caller.person.person_id });
  tx.publish(`credential:${person.id}`);
  tx.publish(`account:${person.id}`);
  return { keys_revoked: keys, browser_sessions_ended: sessions, ...(await leaveEveryBoard(tx, caller, person)) };
}

/** In the order of the boards' ids, so that two of these never wait for each other. */
async function leaveEveryBoard(
  tx: WriteTx,
  caller: Caller,
  person: PersonRow,
): Promise<Omit<Counts, 'keys_revoked' | 'browser_sessions_ended'>> {
  const counts = { agents_removed: 0, boards_left: 0, owners_passed: 0, unreachable_boards: [] as string[] };
  for (const id of await boardIdsOf(tx, person.id)) {
    const board = await lockBoardById(tx, id);
    const member = await activeHuman(tx, id, person.id);
    if (!board || board.lifecycle === 'deleted' || !member) continue;
    const remover = (await activeHuman(tx, id, caller.person.person_id)) ?? null;
    const actor = actorOn(remover, caller);
    counts.agents_removed += (await endMembership(tx, board, member, { actor, how: 'removed_from_server' })).length;
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
