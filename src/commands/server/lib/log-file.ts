/** Prints the end of a log file and follows it. */

import { existsSync, readFileSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import * as Flags from '@oclif/core/flags';
import { booleanFlag } from '../../../cli/flags.ts';
import type { Output } from '../../../cli/output.ts';
import { interruptWith } from '../../../cli/signals.ts';
import { sleep } from '../../../client/time.ts';

const EVERY_MS = 250;

export const logFlags = {
  follow: booleanFlag('Go on with what is written from now on', { char: 'f' }),
  limit: Flags.integer({ char: 'n', min: 0, default: 100, helpValue: 'N', description: 'Lines to begin with' }),
};

/** Prints the last lines of a log, and with `follow` what is added to it until it is interrupted. */
export async function printLog(out: Output, path: string, { follow, limit }: { follow: boolean; limit: number }) {
  const { text, end } = lastLines(path, limit);
  out.raw(text);
  if (follow) await followFile(path, end, (part) => out.raw(part));
}

/** The last lines of a file, and where it ends; nothing where there is no file. */
function lastLines(path: string, count: number): { text: string; end: number } {
  if (!existsSync(path)) return { text: '', end: 0 };
  const bytes = readFileSync(path);
  const lines = bytes.toString('utf8').split('\n');
  if (lines.at(-1) === '') lines.pop();
  const kept = count === 0 ? [] : lines.slice(-count);
  return { text: kept.map((line) => `${line}\n`).join(''), end: bytes.length };
}

/** Hands on what is added to a file, until it is interrupted. A file that was replaced is read from its beginning. */
async function followFile(path: string, from: number, show: (text: string) => void): Promise<void> {
  let at = from;
  let ended = false;
  interruptWith(() => {
    ended = true;
  });
  while (!ended) {
    const size = existsSync(path) ? statSync(path).size : 0;
    if (size < at) at = 0;
    if (size > at) {
      show(await readPart(path, at, size));
      at = size;
    }
    await sleep(EVERY_MS);
  }
}

async function readPart(path: string, from: number, to: number): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(to - from), 0, to - from, from);
    return buffer.subarray(0, bytesRead).toString('utf8');
  } finally {
    await file.close();
  }
}
