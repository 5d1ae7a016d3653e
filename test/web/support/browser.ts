/** A real browser: the system's Chromium, or the one that a package brings. */
import { existsSync } from 'node:fs';
import packaged from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

const system = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

/** Neither a sandbox, which containers do not allow, nor anything that asks other hosts. */
const args = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--disable-dev-shm-usage', '--font-render-hinting=none'],
];

let running: Promise<Browser> | null = null;

async function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: system ?? (await packaged.executablePath()), args });
}

/** The browser of this run of the tests; it ends with the process. */
export function browser(): Promise<Browser> {
  running ??= launch();
  return running;
}

/** Ends the browser. */
export async function closeBrowser(): Promise<void> {
  const last = running;
  running = null;
  await (await last)?.close();
}
