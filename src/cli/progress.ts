/** How far a transfer is, on standard error of a terminal only, and gone when it ends. */

import type { Output } from './output.ts';
import { sizeText } from './print/file.ts';

const AFTER_MS = 500;
const EVERY_MS = 100;
const WIDTH = 24;

export interface Progress {
  at(done: number, total: number): void;
  end(): void;
}

/** @param what is shown before the bar, such as the name of the file. */
export function progressOf(out: Output, what: string): Progress {
  if (!process.stderr.isTTY || out.mode !== 'text' || out.quiet) return { at() {}, end() {} };
  const started = performance.now();
  let drawn = 0;
  return {
    at(done, total) {
      const now = performance.now();
      if (now - started < AFTER_MS || now - drawn < EVERY_MS) return;
      drawn = now;
      process.stderr.write(`\r\x1b[K${lineOf(what, done, total, (now - started) / 1000)}`);
    },
    end() {
      if (drawn > 0) process.stderr.write('\r\x1b[K');
    },
  };
}

function lineOf(what: string, done: number, total: number, seconds: number): string {
  const share = total === 0 ? 1 : done / total;
  const full = Math.round(share * WIDTH);
  const rate = done / seconds;
  const left = rate > 0 ? `${Math.ceil((total - done) / rate)}s left` : '';
  const bar = '#'.repeat(full) + '-'.repeat(WIDTH - full);
  return `${what}  ${bar}  ${Math.round(share * 100)}%  ${sizeText(done)} of ${sizeText(total)}  ${sizeText(rate)}/s  ${left}`;
}
