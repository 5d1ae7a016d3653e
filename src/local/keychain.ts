/** Talks to the keychain helper process, and ends it when it does not answer. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Env } from './folders.ts';
import { partPath } from './program.ts';

export type KeychainAnswer = { ok: true; value: string | null } | { ok: false };

/** Without a session bus there is no keychain on Linux, and asking would only wait. */
export function keychainPossible(env: Env = process.env): boolean {
  if (process.platform !== 'linux') return true;
  return Boolean(env.DBUS_SESSION_BUS_ADDRESS) || existsSync(`${env.XDG_RUNTIME_DIR ?? ''}/bus`);
}

/** Whether a value written to the keychain can be read back and removed. */
export async function keychainWorks(): Promise<boolean> {
  return (await ask({ action: 'probe', account: 'probe' })).ok;
}

export const keychain = {
  get: (account: string) => ask({ action: 'get', account }),
  set: (account: string, value: string) => ask({ action: 'set', account, value }),
  delete: (account: string) => ask({ action: 'delete', account }),
};

async function ask(request: Record<string, string>): Promise<KeychainAnswer> {
  // At a terminal an unlock dialog may be open, and a person needs time for it.
  const patience = process.stdin.isTTY && process.stderr.isTTY ? 60_000 : 3000;
  const child = spawn(process.execPath, [...process.execArgv, partPath('keychain.mjs', 'local/keychain.child')], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), patience);
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify(request));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  try {
    const answer = JSON.parse(text) as { ok: boolean; value?: string | null };
    return answer.ok ? { ok: true, value: answer.value ?? null } : { ok: false };
  } catch {
    return { ok: false };
  }
}
