/**
 * The system keychain, used from a process of its own: a native call that waits on a locked collection cannot be
 * cancelled, but this process can be killed. One request on standard input, one answer on standard output.
 */
import type { KeychainAnswer } from './keychain.ts';

interface Request {
  action: 'probe' | 'get' | 'set' | 'delete';
  account: string;
  value?: string;
}

interface Keytar {
  getPassword(service: string, account: string): Promise<string | null>;
  setPassword(service: string, account: string, value: string): Promise<void>;
  deletePassword(service: string, account: string): Promise<boolean>;
}

const SERVICE = 'service-cli';
/** Error messages of a locked keychain, or of an unlock dialog that could not be shown or was dismissed. */
const LOCKED = /locked|dismissed|interaction is not allowed|cancell?ed/i;

let text = '';
for await (const part of process.stdin) text += String(part);
process.stdout.write(JSON.stringify(await answer(JSON.parse(text) as Request)));

async function answer(request: Request): Promise<KeychainAnswer> {
  try {
    // Optional, and it throws at load where the system's library is missing.
    const name = 'keytar';
    const loaded = (await import(name)) as Keytar & { default?: Keytar };
    return await act(loaded.default ?? loaded, request);
  } catch (error) {
    return { ok: false, locked: LOCKED.test(String(error)) };
  }
}

async function act(keytar: Keytar, { action, account, value }: Request): Promise<KeychainAnswer> {
  if (action === 'delete') {
    const deleted = await keytar.deletePassword(SERVICE, account);
    return deleted ? { ok: true, value: null } : { ok: false, locked: false };
  }
  if (action === 'set') {
    await keytar.setPassword(SERVICE, account, value ?? '');
    return { ok: true, value: null };
  }
  if (action === 'get') {
    const found = await keytar.getPassword(SERVICE, account);
    if (found !== null) return { ok: true, value: found };
    // Some locked keychains appear empty instead of failing.
  }
  return probe(keytar);
}

/** Whether a written value can be read back. */
async function probe(keytar: Keytar): Promise<KeychainAnswer> {
  const mark = `probe-${process.pid}`;
  await keytar.setPassword(SERVICE, mark, mark);
  const read = await keytar.getPassword(SERVICE, mark);
  await keytar.deletePassword(SERVICE, mark);
  return read === mark ? { ok: true, value: null } : { ok: false, locked: read === null };
}
