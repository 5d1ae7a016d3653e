/** Whether what a server gives or takes can be noted on this machine. */
import { updateCredentials } from '../../local/keys/credentials.ts';
import { unsaved } from '../errors.ts';
import { runtime } from '../runtime.ts';

/**
 * Proves that the credentials can be saved, before a server makes a token that would be lost, or ends a key that would stay.
 * @throws Failure `folder_unwritable`
 */
export async function requireSavable(): Promise<void> {
  try {
    await updateCredentials(runtime().folders, () => {});
  } catch (error) {
    throw unsaved(error, 'Nothing was changed on the server.');
  }
}
