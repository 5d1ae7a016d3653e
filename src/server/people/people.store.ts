/** Queries on the people of the server. */
import type { Knex } from 'knex';
import type { MidturnPolicy, ServerRole } from '../../contract/types.ts';
import { anyRow, countRows, firstRow } from '../db/query.ts';
import { rowBy, rowsBy, updateIn } from '../db/rows.ts';
import { statement } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { newId } from '../text/ids.ts';

export type PersonRow = {
  id: string;
  handle: string;
  display_name: string | null;
  server_role: ServerRole;
  created_at: number;
  removed_at: number | null;
  removed_by: string | null;
  midturn_policy: MidturnPolicy | null;
};

/**
 * Holds until the commit what decisions about several people and their keys rest on: who is admin, whose a handle is,
 * which names a person's keys have. Such changes are rare, so they run one after the other. Asked for before anything
 * else is held (`WriteCase.before`), so that two of them never wait for each other.
 */
export const lockPeople = (tx: WriteTx): Promise<void> => tx.serialise('people');

/** The admin who came first; undefined while nobody is there. */
export const earliestAdmin = (tx: ReadTx): Promise<PersonRow | undefined> =>
  firstRow(tx, (db) =>
    db('people')
      .where('server_role', 'admin')
      .whereNull('removed_at')
      .orderBy(['created_at', 'id'])
      .limit(1)
      .select('*'),
  );

/** When the first person came, which a server is begun with; null: nobody ever has, as removed people stay as records. */
export const firstPersonAt = async (tx: ReadTx): Promise<number | null> =>
  (await firstRow<{ first: number | null }>(tx, (db) => db('people').min({ first: 'created_at' })))?.first ?? null;

/** Adds a person with an empty allowance; answers the row. */
export async function insertPerson(tx: WriteTx, given: Pick<PersonRow, 'handle' | 'server_role'> & Partial<PersonRow>) {
  const person = { id: newId('hum', tx.now), display_name: null, created_at: tx.now };
  const row: PersonRow = { ...person, removed_at: null, removed_by: null, midturn_policy: null, ...given };
  await tx.change((db) => db('people').insert(row));
  const allowance = { id: newId('alw', tx.now), person_id: row.id, revision: 0, categories: '[]' };
  await tx.change((db) => db('allowances').insert(allowance));
  return row;
}

const present = (db: Knex, handle: string) => db('people').where('handle', handle).whereNull('removed_at').select('*');
const byHandle = statement<{ handle: string }, PersonRow>((db, p) => present(db, p.handle));
const byHandleShared = statement<{ handle: string }, PersonRow>((db, p) => present(db, p.handle).forShare());

/** The present person with this handle. */
export const personByHandle = (tx: ReadTx, handle: string): Promise<PersonRow | undefined> =>
  tx.first(byHandle, { handle });

/** The same, kept from being removed or changed by another transaction until the commit. */
export const shareLockPersonByHandle = (tx: WriteTx, handle: string): Promise<PersonRow | undefined> =>
  tx.first(byHandleShared, { handle });

/** A person, removed ones included. */
export const personById = rowBy<PersonRow>('people', 'id');

/** Whose a handle is or was for good: of a present person, or reserved by a rename or removal; undefined: free. */
export const holderOfHandle = async (tx: ReadTx, handle: string): Promise<string | undefined> => {
  const present = await personByHandle(tx, handle);
  if (present) return present.id;
  const [reserved] = await tx.query<{ person_id: string }>((db) =>
    db('handle_reservations').where('handle', handle).select('person_id'),
  );
  return reserved?.person_id;
};

/** A person by their id, kept from being removed or changed until the commit. */
export const shareLockPersonById = (tx: WriteTx, id: string): Promise<PersonRow | undefined> =>
  firstRow(tx, (db) => db('people').where('id', id).forShare().select('*'));

/** The same, to be changed: requests that came with the person's credentials end first. The people are locked. */
export async function lockPersonById(tx: WriteTx, id: string): Promise<PersonRow | undefined> {
  await tx.serialise(id);
  return firstRow(tx, (db) => db('people').where('id', id).forUpdate().select('*'));
}

/** The present person whom a path names, by the handle or by the id, which no rename changes. No handle has a `_`. */
export async function personNamed(tx: ReadTx, named: string): Promise<PersonRow | undefined> {
  const person = await (named.includes('_') ? personById(tx, named) : personByHandle(tx, named));
  return person?.removed_at === null ? person : undefined;
}

/** The same, to be changed. */
export async function lockPersonNamed(tx: WriteTx, named: string): Promise<PersonRow | undefined> {
  const person = await personNamed(tx, named);
  return person && lockPersonById(tx, person.id);
}

export const savePerson = updateIn<PersonRow>('people');

/** Present people. @param page orders and cuts them. */
export const listPersonRows = (tx: ReadTx, page: (query: Knex.QueryBuilder) => Knex.QueryBuilder) =>
  tx.query<PersonRow>((db) => page(db('people').whereNull('removed_at').select('*')));

/** How many admins are there. To decide by it, hold the people. */
export const countAdmins = (tx: ReadTx): Promise<number> =>
  countRows(tx, (db) => db('people').where('server_role', 'admin').whereNull('removed_at'));

/** Whether anybody can manage the server: an admin with a working key. */
export const anyAdminHasKey = (tx: ReadTx): Promise<boolean> =>
  anyRow(tx, (db) =>
    db({ p: 'people' })
      .join({ k: 'access_keys' }, 'k.person_id', 'p.id')
      .where('p.server_role', 'admin')
      .whereNull('p.removed_at')
      .whereNull('k.revoked_at')
      .where((open) => open.whereNull('k.expires_at').orWhere('k.expires_at', '>', tx.now))
      .limit(1)
      .select({ id: 'k.id' }),
  );

/** Keeps handles for a person for good; those that are theirs already stay so. */
export const reserveHandles = (tx: WriteTx, personId: string, handles: string[]): Promise<number> =>
  tx.change((db) =>
    db('handle_reservations')
      .insert(handles.map((handle) => ({ handle, person_id: personId })))
      .onConflict('handle')
      .ignore(),
  );

/** People by their ids, removed ones included. */
export const peopleWithIds = rowsBy<PersonRow>('people', 'id');
