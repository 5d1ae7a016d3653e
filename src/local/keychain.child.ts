/**
 * The system keychain, used from a process of its own: a native call that waits on a locked collection cannot be
 * cancelled, but this process can be killed. One request on standard input, one answer on standard output.
 */
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

let text = '';
for await (const part of process.stdin) text += String(part);
process.stdout.write(JSON.stringify(await answer(JSON.parse(text) as Request)));

async function answer(request: Request): Promise<{ ok: boolean; value?: string | null }> {
  try {
    // Optional, and it throws at load where the system's library is missing.
    const name = 'keytar';
    const loaded = (await import(name)) as Keytar & { default?: Keytar };
    return await act(loaded.default ?? loaded, request);
  } catch {
    return { ok: false };
  }
}

async function act(
  keytar: Keytar,
  { action, account, value }: Request,
): Promise<{ ok: boolean; value?: string | null }> {
  if (action === 'get') return { ok: true, value: await keytar.getPassword(SERVICE, account) };
  if (action === 'delete') return { ok: await keytar.deletePassword(SERVICE, account) };
  if (action === 'set') {
    await keytar.setPassword(SERVICE, account, value ?? '');
    return { ok: true };
  }
  const mark = `probe-${process.pid}`;
  await keytar.setPassword(SERVICE, mark, mark);
  const read = await keytar.getPassword(SERVICE, mark);
  await keytar.deletePassword(SERVICE, mark);
  return { ok: read === mark };
}
