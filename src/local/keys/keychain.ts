/** Talks to the keychain helper process, and ends it when it does not answer. */
import { existsSync } from 'node:fs';
import type { Env } from '../folders.ts';
import { parseJson } from '../json.ts';
import { partPath } from '../program.ts';

/** `value` is null after a write, or if there is no entry. `locked`: the person has to unlock the keychain first. */
export type KeychainAnswer = { ok: true; value: string | null } | { ok: false; locked: boolean };

/** Whether a keychain can exist: on Linux only with a session bus; without one, requests would hang. */
export function keychainPossible(env: Env = process.env): boolean {
  if (process.platform !== 'linux') return true;
  return Boolean(env.DBUS_SESSION_BUS_ADDRESS) || existsSync(`${env.XDG_RUNTIME_DIR ?? ''}/bus`);
}

export type KeychainState = 'works' | 'locked' | 'none';

/** Whether a value written to the keychain can be read back and removed; else whether it only has to be unlocked. */
export async function keychainState(env: Env = process.env): Promise<KeychainState> {
  if (!keychainPossible(env)) return 'none';
  const answer = await ask({ action: 'probe', account: 'probe' });
  if (answer.ok) return 'works';
  return answer.locked ? 'locked' : 'none';
}

export const keychain = {
  get: (account: string) => ask({ action: 'get', account }),
  set: (account: string, value: string) => ask({ action: 'set', account, value }),
  delete: (account: string) => ask({ action: 'delete', account }),
};

async function ask(request: Record<string, string>): Promise<KeychainAnswer> {
  // At a terminal an unlock dialog may be open, and a person needs time for it.
  const timeout = process.stdin.isTTY && process.stderr.isTTY ? 60_000 : 3000;
  // Loaded lazily, because it is not needed if keys are in a file.
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn(process.execPath, [...process.execArgv, partPath('keychain.mjs', 'local/keys/keychain.child')], {
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout,
    killSignal: 'SIGKILL',
  });
  // A runtime that is not there any more, as after its upgrade, counts as a keychain that cannot be used.
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify(request));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  await new Promise((resolve) => child.once('close', resolve));
  // A keychain that does not answer is waiting to be unlocked.
  return (parseJson(text) as KeychainAnswer | null) ?? { ok: false, locked: child.killed };
}
