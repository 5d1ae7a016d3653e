/** Opening an address in the person's browser. */
import { type ChildProcess, type SpawnOptions, spawn as spawnProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Env } from './folders.ts';

/** The parts of the machine that opening a browser uses; tests replace them. */
export interface BrowserHost {
  env: Env;
  platform: NodeJS.Platform;
  spawn(command: string, args: string[], options: SpawnOptions): ChildProcess;
}

/** A program that is still there after this many milliseconds has taken the address. */
const STARTED_MS = 1_500;

export const thisBrowserHost = (env: Env): BrowserHost => ({ env, platform: process.platform, spawn: spawnProcess });

/** Opens an address with `$BROWSER`, else with the platform's default. @returns whether a program took it */
export async function openInBrowser(url: string, desk: BrowserHost): Promise<boolean> {
  for (const [command, ...args] of browsers(url, desk)) {
    if (command !== undefined && (await starts(command, args, desk))) return true;
  }
  return false;
}

/** How long the redirecting page exists: as long as the code in it works. */
const PAGE_MS = 60_000;
const PAGE = /^service-open-[0-9a-f]{32}\.html$/;

/**
 * Opens an address that is for this person alone. All users of the machine see with which words a program was started, so
 * the browser gets the name of a file that only its owner can read, leads on to the address and is removed after a while.
 */
export async function openPrivately(url: string, desk: BrowserHost, ms = PAGE_MS): Promise<boolean> {
  if (browsers(url, desk).length === 0) return false;
  let page: string;
  try {
    page = writePage(url, desk.env.HOME || homedir());
  } catch {
    return false;
  }
  const opened = await openInBrowser(pathToFileURL(page).href, desk);
  if (opened) removeLater(page, ms, desk);
  else rmSync(page, { force: true });
  return opened;
}

/** In the home folder and not hidden, since a browser in a sandbox, such as a snap, reads nothing else of this person. */
function writePage(url: string, home: string): string {
  for (const name of readdirSync(home).filter((each) => PAGE.test(each))) {
    const left = join(home, name);
    if (Date.now() - statSync(left).mtimeMs > PAGE_MS) rmSync(left, { force: true });
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
  if (env.BROWSER) return env.BROWSER === 'none' ? [] : chosen(env.BROWSER, url, platform);
  // A window opened over SSH would appear on another screen.
  if (env.SSH_CONNECTION && !env.DISPLAY && !env.WAYLAND_DISPLAY) return [];
  if (platform === 'darwin') return [['/usr/bin/open', url]];
  // Not through a shell, which would read the address.
  if (platform === 'win32') return [['rundll32.exe', 'url.dll,FileProtocolHandler', url]];
  if (env.DISPLAY || env.WAYLAND_DISPLAY) return [['xdg-open', url]];
  return [];
}

/** `$BROWSER`: commands separated by colons; `%s` stands for the address, which else comes last. */
function chosen(value: string, url: string, platform: NodeJS.Platform): string[][] {
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
    const timer = setTimeout(() => done(true), STARTED_MS);
    const done = (opened: boolean) => {
      clearTimeout(timer);
      child.unref();
      resolve(opened);
    };
    child.once('error', () => done(false));
    child.once('exit', (code) => done(code === 0));
  });
}
