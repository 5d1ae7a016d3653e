/** Opens an address in the person's browser. */
import { type ChildProcess, type SpawnOptions, spawn as spawnProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Env, homeOf } from './folders.ts';

/** The parts of the machine that opening a browser uses; tests replace them. */
export interface BrowserHost {
  env: Env;
  platform: NodeJS.Platform;
  spawn(command: string, args: string[], options: SpawnOptions): ChildProcess;
}

/** A program that still runs after this time has accepted the address. */
const START_TIMEOUT_MS = 1_500;

export const thisBrowserHost = (env: Env): BrowserHost => ({ env, platform: process.platform, spawn: spawnProcess });

/** Opens an address with `$BROWSER`, else with the platform's default. @returns whether a program accepted it */
export async function openInBrowser(url: string, host: BrowserHost): Promise<boolean> {
  for (const [command, ...args] of browsers(url, host)) {
    if (command !== undefined && (await starts(command, args, host))) return true;
  }
  return false;
}

/** Lifetime of the redirecting page: the code in its address expires then. */
const PAGE_LIFETIME_MS = 60_000;
const PAGE = /^service-open-[0-9a-f]{32}\.html$/;

/**
 * Opens an address with a secret. All users of the machine can see the arguments of a process, so the browser gets the
 * name of a private file that redirects to the address and is deleted after a while.
 */
export async function openPrivately(url: string, host: BrowserHost, ms = PAGE_LIFETIME_MS): Promise<boolean> {
  if (browsers(url, host).length === 0) return false;
  let page: string;
  try {
    page = writePage(url, homeOf(host.env));
  } catch {
    return false;
  }
  const opened = await openInBrowser(pathToFileURL(page).href, host);
  if (opened) removeLater(page, ms, host);
  else rmSync(page, { force: true });
  return opened;
}

/** In the home folder and not hidden, because a sandboxed browser, such as a snap, can read nothing else. */
function writePage(url: string, home: string): string {
  for (const name of readdirSync(home).filter((each) => PAGE.test(each))) {
    const left = join(home, name);
    if (Date.now() - statSync(left).mtimeMs > PAGE_LIFETIME_MS) rmSync(left, { force: true });
  }
  const page = join(home, `service-open-${randomBytes(16).toString('hex')}.html`);
  const target = url.replaceAll(/[&"<>]/g, (found) => ENTITIES[found]!);
  const text = `<!doctype html>\n<meta charset="utf-8">\n<meta http-equiv="refresh" content="0; url=${target}">\n`;
  writeFileSync(page, text, { flag: 'wx', mode: 0o600 });
  return page;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;' };

/** The command ends before the browser has read the page, so another process removes it. */
function removeLater(page: string, ms: number, { spawn }: BrowserHost): void {
  const remove = `setTimeout(() => require('node:fs').rmSync(process.argv[1], { force: true }), ${ms})`;
  const child = spawn(process.execPath, ['-e', remove, page], { env: {}, stdio: 'ignore', detached: true });
  child.once('error', () => rmSync(page, { force: true }));
  child.unref();
}

/** The commands to try, in order; none without a display. */
export function browsers(url: string, { env, platform }: Pick<BrowserHost, 'env' | 'platform'>): string[][] {
  if (env.CI) return [];
  if (env.BROWSER) return env.BROWSER === 'none' ? [] : browserCommands(env.BROWSER, url, platform);
  // A window opened over SSH would appear on another screen.
  if (env.SSH_CONNECTION && !env.DISPLAY && !env.WAYLAND_DISPLAY) return [];
  if (platform === 'darwin') return [['/usr/bin/open', url]];
  // Not through a shell, which would read the address.
  if (platform === 'win32') return [['rundll32.exe', 'url.dll,FileProtocolHandler', url]];
  if (env.DISPLAY || env.WAYLAND_DISPLAY) return [['xdg-open', url]];
  return [];
}

/** `$BROWSER`: commands separated by colons; `%s` is replaced by the address, which is otherwise appended. */
function browserCommands(value: string, url: string, platform: NodeJS.Platform): string[][] {
  if (platform === 'win32' || existsSync(value)) return [[value, url]];
  return value
    .split(':')
    .map((command) => command.trim().split(/\s+/).filter(Boolean))
    .filter((words) => words.length > 0)
    .map((words) =>
      words.some((word) => word.includes('%s')) ? words.map((word) => word.replaceAll('%s', url)) : [...words, url],
    );
}

/** Whether a program could be started and did not fail at once. */
function starts(command: string, args: string[], { env, spawn }: BrowserHost): Promise<boolean> {
  return new Promise((resolve) => {
    // A browser must not get credentials from the environment.
    const { SERVICE_TOKEN: _token, SERVICE_TOKEN_FILE: _file, ...rest } = env;
    const child = spawn(command, args, { env: rest as NodeJS.ProcessEnv, stdio: 'ignore', detached: true });
    const timer = setTimeout(() => done(true), START_TIMEOUT_MS);
    const done = (opened: boolean) => {
      clearTimeout(timer);
      child.unref();
      resolve(opened);
    };
    child.once('error', () => done(false));
    child.once('exit', (code) => done(code === 0));
  });
}
