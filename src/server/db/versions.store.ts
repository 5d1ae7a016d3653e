/** What the safety poll compares: a number per watched key that changes whenever the key's state does. */
import type { Knex } from 'knex';
import type { ReadTx } from './tx.ts';

/** The last number drawn from the counter of writes. */
export async function counterOf(tx: ReadTx): Promise<number> {
  const [row] = await tx.query<{ last_value: number }>((db) => db('change_counter').select('last_value'));
  return Number(row?.last_value ?? 0);
}

/**
 * Versions of `board:<id>` keys by the head of the record, of `account:` and `positions:` keys by memberships, positions and
 * modes, of `presence:` keys by the changes that were reported.
 */
export async function versionsOf(tx: ReadTx, keys: string[]): Promise<Map<string, number>> {
  const versions = new Map<string, number>();
  const boards = idsWithPrefix(keys, 'board:');
  if (boards.length > 0) {
    const rows = await tx.query<{ id: string; head_seq: number }>((db) =>
      db('boards').where('id', anyOf(db, boards)).select('id', 'head_seq'),
    );
    for (const row of rows) versions.set(`board:${row.id}`, row.head_seq);
  }
  const people = [...new Set([...idsWithPrefix(keys, 'account:'), ...idsWithPrefix(keys, 'positions:')])];
  if (people.length > 0) {
    const rows = await tx.query<{ person_id: string; version: number }>((db) =>
      db('members')
        .where('person_id', anyOf(db, people))
        .where('status', 'active')
        .groupBy('person_id')
        .select('person_id', { version: db.raw('COUNT(*) * 1000003 + SUM(read_up_to) + SUM(delivery_revision)') }),
    );
    for (const row of rows) {
      versions.set(`account:${row.person_id}`, Number(row.version));
      versions.set(`positions:${row.person_id}`, Number(row.version));
    }
  }
  const watched = idsWithPrefix(keys, 'presence:');
  if (watched.length > 0) {
    const rows = await tx.query<{ board_id: string; version: number }>((db) =>
      db({ r: 'seat_reports' })
        .join({ m: 'members' }, 'm.id', 'r.member_id')
        .where('m.board_id', anyOf(db, watched))
        .groupBy('m.board_id')
        .select('m.board_id', { version: db.raw('SUM(r.revision)') }),
    );
    for (const row of rows) versions.set(`presence:${row.board_id}`, Number(row.version));
  }
  return versions;
}

/** One parameter, however many there are: each length of a list would be a statement of its own, of at most 65,535 parameters. */
const anyOf = (db: Knex, ids: string[]): Knex.Raw => db.raw('ANY(?)', [ids as never]);

const idsWithPrefix = (keys: string[], prefix: string): string[] =>
  keys.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
