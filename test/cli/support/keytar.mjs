// A keychain in the folder that TEST_KEYCHAIN names: a file for each entry, and `state`, which says how it behaves.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.env.TEST_KEYCHAIN ?? '';
const entry = (account) => join(folder, encodeURIComponent(account));
const state = existsSync(join(folder, 'state')) ? readFileSync(join(folder, 'state'), 'utf8') : 'open';

/** What the systems' keychains do: refuse by name, show nothing and drop what is written, or wait for an unlock dialog. */
async function allowed(reads) {
  if (state === 'waiting') await new Promise((resolve) => setTimeout(resolve, 600_000));
  if (state === 'refusing') throw new Error('Cannot create an item in a locked collection');
  if (state === 'hiding' && !reads) throw new Error('Prompt was dismissed');
  if (state === 'broken') throw new Error('The name org.freedesktop.secrets was not provided by any .service files');
}

export async function getPassword(_service, account) {
  await allowed(true);
  return state === 'hiding' || !existsSync(entry(account)) ? null : readFileSync(entry(account), 'utf8');
}

export async function setPassword(_service, account, value) {
  await allowed(false);
  writeFileSync(entry(account), value);
}

export async function deletePassword(_service, account) {
  await allowed(false);
  rmSync(entry(account), { force: true });
  return true;
}
