/** Join codes, as people and agents of their board see them; never the code itself. */
import type { JoinCode } from '../../contract/types.ts';
import type { Place } from '../access/board-access.ts';
import type { ReadTx } from '../db/tx.ts';
import type { JoinCodeRow } from '../joining/join-codes.store.ts';
import { peopleWithIds, takenHandles } from '../people/people.store.ts';
import { indexBy } from '../text/rows.ts';
import { timestamp, timestampOrNull } from '../text/time.ts';
import { actorsOf } from './actors.ts';

/** With a fixed number of statements however many there are. */
export async function codeViews(tx: ReadTx, place: Place, rows: JoinCodeRow[]): Promise<JoinCode[]> {
  const makers = rows.map((row) => row.maker_member_id);
  const actor = await actorsOf(tx, place.reader, makers);
  const guests = await guestsOf(tx, rows);
  return rows.map((row) => {
    const guest = guests.get(row.id);
    return {
      id: row.id,
      kind: row.kind,
      guest: guest?.handle ?? null,
      board: place.board.name,
      role: row.role,
      expires_at: timestamp(row.expires_at),
      created_at: timestamp(row.created_at),
      created_by: actor(row.maker_member_id),
      revoked_at: timestampOrNull(row.revoked_at),
      state: stateOf(row, tx.now, guest?.fits ?? true),
      uses: row.uses,
      last_used_at: timestampOrNull(row.last_used_at),
    };
  });
}

export const codeView = async (tx: ReadTx, place: Place, row: JoinCodeRow): Promise<JoinCode> =>
  (await codeViews(tx, place, [row]))[0]!;

/** A guest code has ended too when its handle became somebody else's, or its guest is gone. */
function stateOf(row: JoinCodeRow, now: number, fits: boolean): JoinCode['state'] {
  if (row.used_at !== null) return 'used';
  if (row.revoked_at !== null) return 'revoked';
  return row.expires_at <= now || !fits ? 'expired' : 'working';
}

/** Of codes for guests: their handle now, and whether the code still fits them. */
async function guestsOf(tx: ReadTx, rows: JoinCodeRow[]): Promise<Map<string, { handle: string; fits: boolean }>> {
  const bound = rows.flatMap((row) => row.guest_person_id ?? []);
  const people = indexBy(await peopleWithIds(tx, bound), 'id');
  const unbound = rows.flatMap((row) => (row.guest_person_id === null ? (row.guest_handle ?? []) : []));
  const taken = await takenHandles(tx, unbound);
  const found = new Map<string, { handle: string; fits: boolean }>();
  for (const row of rows) {
    if (row.guest_handle === null) continue;
    const person = people.get(row.guest_person_id ?? '');
    const fits = row.guest_person_id === null ? !taken.has(row.guest_handle) : person?.removed_at === null;
    found.set(row.id, { handle: person?.handle ?? row.guest_handle, fits });
  }
  return found;
}
