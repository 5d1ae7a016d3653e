/** Join codes, as people and agents of their board see them; never the code itself. */
import type { JoinCode } from '../../contract/types.ts';
import type { Place } from '../access/board-access.ts';
import { codeBoard } from '../boards/boards.store.ts';
import type { ReadTx } from '../db/tx.ts';
import { type JoinCodeRow, workingAmong } from '../joining/join-codes.store.ts';
import { peopleWithIds } from '../people/people.store.ts';
import { idsIn, indexBy } from '../text/rows.ts';
import { timestamp, timestampOrNull } from '../text/time.ts';
import { actorsOf } from './actors.ts';

/** With a fixed number of statements however many there are. */
export async function codeViews(tx: ReadTx, place: Place, rows: JoinCodeRow[]): Promise<JoinCode[]> {
  const makers = rows.map((row) => row.maker_member_id);
  const actor = await actorsOf(tx, place.reader, makers);
  const working = await workingAmong(tx, codeBoard(place.board), idsIn(rows));
  const bound = rows.flatMap((row) => row.guest_person_id ?? []);
  const guests = indexBy(await peopleWithIds(tx, bound), 'id');
  return rows.map((row) => {
    return {
      id: row.id,
      kind: row.kind,
      // As they are called now.
      guest: guests.get(row.guest_person_id ?? '')?.handle ?? row.guest_handle,
      board: place.board.name,
      role: row.role,
      expires_at: timestamp(row.expires_at),
      created_at: timestamp(row.created_at),
      created_by: actor(row.maker_member_id),
      revoked_at: timestampOrNull(row.revoked_at),
      state: stateOf(row, working),
      uses: row.uses,
      last_used_at: timestampOrNull(row.last_used_at),
    };
  });
}

export const codeView = async (tx: ReadTx, place: Place, row: JoinCodeRow): Promise<JoinCode> =>
  (await codeViews(tx, place, [row]))[0]!;

/** What has ended by itself, whatever the reason, is shown as expired. */
function stateOf(row: JoinCodeRow, working: ReadonlySet<string>): JoinCode['state'] {
  if (row.used_at !== null) return 'used';
  if (row.revoked_at !== null) return 'revoked';
  return working.has(row.id) ? 'working' : 'expired';
}
