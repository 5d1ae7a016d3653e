/** Checks a login code that was entered on a page. */
import { Refusal } from '../../contract/errors.ts';
import type { WriteTx } from '../db/tx.ts';
import { findKeyById } from '../keys/credentials.store.ts';
import { keyWorks } from '../operation/caller.ts';
import type { RootKey } from '../text/root-key.ts';
import { liveLoginCode } from './sessions.store.ts';

/**
 * The working key a login code stands for. One answer for every code that does not work.
 * @param hold until the end of the transaction nobody else uses the code up.
 * @throws Refusal `login_code_invalid`.
 */
export async function keyOfCode(tx: WriteTx, root: RootKey, code: string, hold: boolean) {
  const row = await liveLoginCode(tx, root.digest(code), hold);
  const key = row && (await findKeyById(tx, row.key_id));
  if (!row || !key || !keyWorks(key, tx.now)) {
    throw new Refusal('login_code_invalid', 'This login code does not work.', {
      hint: 'A code works once, for a minute. service open makes another.',
    });
  }
  return { row, key };
}
