/** Revoking join codes as a consequence of something else. */
import { record, type Setting } from '../boards/acting.steps.ts';
import { type CodeScope, openCodes, setCodesRevoked } from './join-codes.store.ts';

/** Revokes the codes of a scope that did not end yet on a board whose row this transaction has locked, one event each. */
export async function revokeCodes(setting: Setting, scope: CodeScope): Promise<void> {
  const { tx, board } = setting;
  const ids = (await openCodes(tx, board.id, scope)).map((code) => code.id);
  if (ids.length === 0) return;
  await setCodesRevoked(tx, ids);
  for (const id of ids) await record(setting, 'joincode.revoked', { join_code_id: id });
}
