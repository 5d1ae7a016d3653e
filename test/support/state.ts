/** States that a test begins from, made by the steps of the operations without asking who may, or in the database. */
import type { PolicyChange, Role } from '../../src/contract/types.ts';
import { eventActor } from '../../src/server/access/acting.ts';
import type { Setting } from '../../src/server/boards/acting.steps.ts';
import { type BoardRow, lockBoardById } from '../../src/server/boards/boards.store.ts';
import { setLifecycle, setVisibility } from '../../src/server/boards/set-lifecycle.steps.ts';
import * as settings from '../../src/server/boards/settings.steps.ts';
import type { WriteTx } from '../../src/server/db/tx.ts';
import { endMembership, endSeat } from '../../src/server/members/end-members.steps.ts';
import { type MemberRow, memberById, membersWithIds } from '../../src/server/members/members.store.ts';
import { addMembership } from '../../src/server/members/membership.steps.ts';
import { activeHuman } from '../../src/server/members/memberships.store.ts';
import { personById } from '../../src/server/people/people.store.ts';
import { append } from '../../src/server/record/append.steps.ts';
import { newId, newSecret } from '../../src/server/text/ids.ts';
import { Api } from './api.ts';
import { Browser } from './browser.ts';
import type { TestServer } from './server.ts';

/** A board by its name, as long as somebody holds it. */
async function rowNamed(tx: WriteTx, name: string): Promise<BoardRow> {
  const [row] = await tx.query<BoardRow>((db) => db('boards').where('name', name).forUpdate().select('*'));
  if (!row) throw new Error(`no board ${name}`);
  return row;
}

export const boardRow = (server: TestServer, name: string): Promise<BoardRow> =>
  server.db.write((tx) => rowNamed(tx, name));

/** Puts a person onto a board, guests too, as if they had come by themselves; answers their member id. */
export function putOnBoard(server: TestServer, name: string, person: Api): Promise<string> {
  return server.db.write(async (tx) => {
    const board = await rowNamed(tx, name);
    const found = await personById(tx, person.personId ?? '');
    if (!found) throw new Error('no such person');
    return (await addMembership(tx, board, { person: found })).id;
  });
}

/** Changes a board in its creator's name, without asking whether they may. */
function asCreator(server: TestServer, name: string, change: (setting: Setting, creator: MemberRow) => Promise<void>) {
  return server.db.write(async (tx) => {
    const board = await rowNamed(tx, name);
    const creator = await memberById(tx, board.creator_member_id);
    if (!creator) throw new Error('the board has lost its creator');
    await change({ tx, board, actor: eventActor(creator, creator.name) }, creator);
  });
}

export const setPolicy = (server: TestServer, name: string, change: PolicyChange): Promise<void> =>
  asCreator(server, name, (setting) => settings.setPolicy(setting, change));

/** Replaces the roles of a board. */
export const setRoles = (server: TestServer, name: string, roles: Record<string, Role>): Promise<void> =>
  asCreator(server, name, (setting) => settings.setConfig(setting, { roles }));

/** Brings a board into a state, whichever it was in. */
export const changeBoard = (
  server: TestServer,
  name: string,
  state: Partial<Pick<BoardRow, 'lifecycle' | 'visibility'>>,
): Promise<void> =>
  asCreator(server, name, async (setting, creator) => {
    const { board } = setting;
    if (state.lifecycle && state.lifecycle !== board.lifecycle) {
      await setLifecycle(setting, state.lifecycle, creator.person_id);
    }
    if (state.visibility && state.visibility !== board.visibility) {
      await setVisibility(setting, { after: state.visibility, reveals: null, agents_add_people: false });
    }
  });

/**
 * Ends a seat or a membership as the operations do: somebody who left did it, an agent otherwise its person, a person
 * otherwise the board's creator.
 */
export async function endMember(
  server: TestServer,
  memberId: string,
  status: 'left' | 'removed' = 'removed',
): Promise<void> {
  await server.db.write(async (tx) => {
    const [member] = await membersWithIds(tx, [memberId]);
    const board = member && (await lockBoardById(tx, member.board_id));
    if (!member || !board) throw new Error(`no member ${memberId}`);
    const { handle, display_name: _name, server_role: _role, ...row } = member;
    if (row.kind === 'human') {
      const creator = await memberById(tx, board.creator_member_id);
      const actor = eventActor(status === 'left' ? row : (creator ?? row), handle);
      await endMembership({ tx, board, actor }, row, status);
      return;
    }
    const person = await activeHuman(tx, board.id, row.person_id);
    const actor = eventActor(status === 'left' ? row : (person ?? row), handle);
    await endSeat(tx, board, row, { actor, by: status === 'left' ? 'self' : 'person', owner: handle });
  });
}

/** The person's own membership of a board. */
export async function memberIdOf(server: TestServer, board: string, person: Api): Promise<string> {
  const { people } = await server.dana.ok('listBoardPeople', { params: { board } });
  const { id } = await person.ok('getMe');
  const found = people.find((entry) => entry.id === id);
  if (!found) throw new Error(`not on ${board}`);
  return found.member_id;
}

/** Sets columns of the access key behind a client. */
export async function changeKey(server: TestServer, holder: Api, columns: Record<string, unknown>): Promise<void> {
  const digest = server.root.digest(holder.token ?? '');
  await server.db.write(async (tx) => {
    const rows = await tx.query<{ id: string }>((db) => db('access_keys').where({ digest }).select('id'));
    const [key] = rows;
    if (!key) throw new Error('no such key');
    await tx.change((db) => db('access_keys').where('id', key.id).update(columns));
    tx.publish(`credential:${key.id}`);
  });
}

/** The access key behind a client. */
async function keyOf(server: TestServer, holder: Api): Promise<{ id: string; person_id: string }> {
  const digest = server.root.digest(holder.token ?? '');
  const [key] = await server.db.read((tx) =>
    tx.query<{ id: string; person_id: string }>((db) => db('access_keys').where({ digest }).select('id', 'person_id')),
  );
  if (!key) throw new Error('no such key');
  return key;
}

/** Revokes the access key behind a client, as its person does; guests may not, but an admin may. */
export async function revokeKey(server: TestServer, holder: Api): Promise<void> {
  const call = { params: { key: (await keyOf(server, holder)).id } };
  const { code } = await holder.call('revokeKey', call);
  if (code !== undefined) await server.dana.ok('revokeKey', call);
}

/** A working delegation of the key behind a client. */
export async function newDelegation(server: TestServer, holder: Api): Promise<Api> {
  const key = await keyOf(server, holder);
  const token = newSecret('delegation');
  await server.db.write((tx) => {
    const id = newId('dlg', tx.now);
    const digest = server.root.digest(token);
    const row = { id, key_id: key.id, person_id: key.person_id, name: id.slice(-8).toLowerCase(), digest };
    return tx.change((db) => db('delegations').insert({ ...row, created_at: tx.now }));
  });
  return new Api(server.url, token, key.person_id);
}

/** A session of the key behind a client, in a browser. */
export async function newBrowser(
  server: TestServer,
  holder: Api,
  { expiresAt }: { expiresAt?: number } = {},
): Promise<Browser> {
  const key = await keyOf(server, holder);
  const secret = newSecret('session');
  const sessionId = newId('ses', server.clock.now());
  await server.db.write((tx) =>
    tx.change((db) =>
      db('browser_sessions').insert({
        id: sessionId,
        person_id: key.person_id,
        key_id: key.id,
        digest: server.root.digest(secret),
        started_with: 'access_key',
        created_at: tx.now,
        expires_at: expiresAt ?? tx.now + 2_592_000_000,
      }),
    ),
  );
  return Object.assign(new Browser(server.url, secret, server.root.csrfToken(secret), key.person_id), { sessionId });
}

/** Gives a person another role on the server. */
export async function changeRole(server: TestServer, person: Api, role: 'admin' | 'member' | 'guest'): Promise<void> {
  await server.db.write((tx) =>
    tx.change((db) => db('people').where('id', person.personId).update({ server_role: role })),
  );
}

/** Removes a person from the server. */
export async function removePerson(server: TestServer, person: Api): Promise<void> {
  const [{ handle } = { handle: '' }] = await server.db.read((tx) =>
    tx.query<{ handle: string }>((db) => db('people').where('id', person.personId).select('handle')),
  );
  await server.dana.ok('removePerson', { params: { handle } });
}

/** Appends events quickly, in one transaction: a long log for whoever reads it. */
export async function fillLog(server: TestServer, name: string, count: number): Promise<void> {
  await server.db.write(async (tx) => {
    const board = await rowNamed(tx, name);
    const actor = { kind: 'system' as const, member_id: null, name: null, owner: null };
    for (let n = 1; n <= count; n++) {
      await append(tx, board, { type: 'board.titled', actor, data: { before: null, after: `title ${n}` } });
    }
  });
}
