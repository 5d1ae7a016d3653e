/** What the safety poll compares: a number per watched key that changes whenever the key's state does. */
import type { Knex } from 'knex';
import { firstRow } from './query.ts';
import type { ReadTx } from './tx.ts';

/** The last number drawn from the counter of writes. */
export async function counterOf(tx: ReadTx): Promise<number> {
  const row = await firstRow<{ last_value: number }>(tx, (db) => db('change_counter').select('last_value'));
  return Number(row?.last_value ?? 0);
}

/**
 * Versions of `board:<id>` keys by the head of the record, of `account:` and `positions:` keys by memberships, positions and
 * modes, of `presence:` keys by reports, lines and brakes, of `seat:` keys by brakes, of `notices:` keys by the newest one, and
 * of `onboarding:` keys by requests, pairings, notices and the allowance. Only of Postgres. Of notices those count that are not
 * delivered yet: of these an agent has few, of all of them any number.
 */
export async function versionsOf(tx: ReadTx, keys: string[]): Promise<Map<string, number>> {
  const versions = new Map<string, number>();
  const read = async (prefixes: string[], build: (db: Knex, anyOfThem: Knex.Raw) => Knex.QueryBuilder) => {
    const named = prefixes.flatMap((prefix) => keys.filter((key) => key.startsWith(prefix)));
    const ids = [...new Set(named.map((key) => key.slice(key.indexOf(':') + 1)))];
    if (ids.length === 0) return;
    // One parameter, however many: each length of a list would be a statement of its own, of at most 65,535 parameters.
    const rows = await tx.query<{ id: string; version: number }>((db) => build(db, db.raw('ANY(?)', [ids as never])));
    for (const { id, version } of rows) for (const prefix of prefixes) versions.set(prefix + id, Number(version));
  };
  await read(['board:'], (db, any) => db('boards').where('id', any).select({ id: 'id', version: 'head_seq' }));
  await read(['account:', 'positions:'], (db, any) =>
    db('members')
      .where('person_id', any)
      .where('status', 'active')
      .groupBy('person_id')
      .select({ id: 'person_id', version: db.raw('COUNT(*) * 1000003 + SUM(read_up_to) + SUM(delivery_revision)') }),
  );
  await read(['presence:'], (db, any) =>
    db({ m: 'members' })
      .leftJoin({ r: 'seat_reports' }, 'r.member_id', 'm.id')
      .leftJoin({ l: 'agent_lines' }, 'l.member_id', 'm.id')
      .where('m.board_id', any)
      .where({ 'm.kind': 'agent', 'm.status': 'active' })
      .groupBy('m.board_id')
      .select({ id: 'm.board_id', version: db.raw(`SUM(${STATUS})`) }),
  );
  await read(['seat:'], (db, any) => db('members').where('id', any).select({ id: 'id', version: 'braked_until' }));
  await read(['notices:'], (db, any) =>
    db('notices')
      .where('member_id', any)
      .whereNull('delivered_at')
      .groupBy('member_id')
      .select({ id: 'member_id', version: db.raw('hashtext(MAX(id))') }),
  );
  await read(['onboarding:'], (db, any) =>
    db
      .from(db.raw(`(${ONBOARDING}) AS rows`, Array(5).fill(any)))
      .groupBy('id')
      .select('id')
      .sum({ version: 'version' }),
  );
  return versions;
}

const STATUS = 'COALESCE(r.revision, 0) + COALESCE(l.at, 0) + COALESCE(m.braked_until, 0)';

/** What a person's streams tell of, as live/own-requests.ts reads it. */
const ONBOARDING = `
  SELECT person_id AS id, SUM(hashtext(id || state)) AS version FROM approvals WHERE person_id = ? GROUP BY person_id
  UNION ALL SELECT person_id, revision FROM allowances WHERE person_id = ?
  UNION ALL SELECT inviter_id, hashtext(r::text) FROM pairing_requests r WHERE inviter_id = ?
  UNION ALL SELECT recipient_id, hashtext(r::text) FROM pairing_requests r WHERE recipient_id = ?
  UNION ALL SELECT m.person_id, SUM(hashtext(n.id)) FROM notices n JOIN members m ON m.id = n.member_id
    WHERE m.person_id = ? AND n.delivered_at IS NULL GROUP BY m.person_id`;
