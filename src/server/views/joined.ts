/** What somebody gets who brought an agent onto a board. */
import type { JoinResult } from '../../contract/types.ts';
import type { Place } from '../access/place.ts';
import type { ReadTx } from '../db/tx.ts';
import type { MemberRow } from '../members/members.store.ts';
import type { Caller } from '../operation/caller.ts';
import { boardView } from './board.ts';
import { memberView } from './member.ts';

/** The answer, whose ids and token a replay asks about again. */
export async function joinedView(
  tx: ReadTx,
  caller: Caller,
  { place, seat, reused }: { place: Place; seat: { row: MemberRow; token: string }; reused?: true },
): Promise<JoinResult> {
  const { handle, display_name, server_role } = caller.person;
  Object.assign(caller.shown, {
    board: place.board.id,
    member: true,
    seat: seat.row.id,
    token_digest: seat.row.token_digest?.toString('hex') ?? '',
  });
  return {
    agent: await memberView(tx, { ...seat.row, handle, display_name, server_role }, place, caller),
    token: seat.token,
    board: await boardView(tx, caller, place),
    ...(reused ? { reused } : {}),
  };
}
