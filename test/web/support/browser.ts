/** A real browser: the system's Chromium, or the one that a package brings. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';

const system = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

/** Neither a sandbox, which containers do not allow, nor anything that asks other hosts. */
const args = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--disable-dev-shm-usage', '--font-render-hinting=none'],
  // All tabs of one person share a process, which takes a while to start.
  '--renderer-process-limit=1',
];

let running: Promise<Browser> | null = null;

async function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: system ?? (await unpacked()), args });
}

/** The browser of the package: unpacking takes seconds, so all processes of all runs use one copy, beside the packages. */
async function unpacked(): Promise<string> {
  const cache = fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url));
  const { size } = statSync(new URL('../bin/chromium.br', import.meta.resolve('@sparticuz/chromium')));
  const folder = join(cache, `chromium-${size}`);
  if (!existsSync(folder)) {
    mkdirSync(cache, { recursive: true });
    const fresh = mkdtempSync(join(cache, 'unpacking-'));
    const script = "import('@sparticuz/chromium').then((packaged) => packaged.default.executablePath())";
    await promisify(execFile)(process.execPath, ['-e', script], { env: { ...process.env, TMPDIR: fresh } });
    try {
      renameSync(fresh, folder);
    } catch {
      // Another process was faster.
      rmSync(fresh, { recursive: true });
    }
  }
  return join(folder, 'chromium');
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
