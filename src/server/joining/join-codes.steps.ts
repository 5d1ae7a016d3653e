/** Revoking join codes as a consequence of something else. */
import type { EventActor } from '../../contract/types.ts';
import type { BoardRow } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { append } from '../record/append.steps.ts';
import { type CodeScope, setCodesRevoked, workingCodes } from './join-codes.store.ts';

/** Revokes the working codes of a scope on a board whose row this transaction has locked, one event each; answers how many. */
export async function revokeCodes(tx: WriteTx, board: BoardRow, actor: EventActor, scope: CodeScope): Promise<number> {
  const codes = await workingCodes(tx, board.id, scope);
  if (codes.length === 0) return 0;
  await setCodesRevoked(
    tx,
    codes.map((code) => code.id),
  );
  for (const code of codes) {
    await append(tx, board, { type: 'joincode.revoked', actor, data: { join_code_id: code.id } });
  }
  return codes.length;
}
