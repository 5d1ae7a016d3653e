/** Standard input: read only where a command says so, to its end, as bytes. */
import { fstatSync, readFileSync } from 'node:fs';
import { Failure, usage } from '../local/failure.ts';
import type { Output } from './output.ts';

const PATIENCE_MS = 3000;

/** Whether something was piped or redirected in. A terminal, /dev/null and a socket hold nothing for us. */
export function hasPipedInput(): boolean {
  try {
    const stat = fstatSync(0);
    return stat.isFIFO() || stat.isFile();
  } catch {
    return false;
  }
}

/** All of standard input. Says after a while what it waits for, to a person who may not know. */
export async function readStdin(out: Output, what: string): Promise<Buffer> {
  const timer = setTimeout(() => {
    if (process.stdin.isTTY) out.note(`Waiting for ${what}; end it with Ctrl-D.`);
  }, PATIENCE_MS);
  const parts: Buffer[] = [];
  try {
    for await (const part of process.stdin) parts.push(part as Buffer);
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(parts);
}

/** Strict UTF-8, without the one line end that closes the last line. */
export function asText(bytes: Buffer): string {
  const text = decode(bytes);
  return text.endsWith('\r\n') ? text.slice(0, -2) : text.endsWith('\n') ? text.slice(0, -1) : text;
}

/** Strict UTF-8; anything else is refused with the place where it stops being text. */
export function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const offset = firstInvalid(bytes);
    throw new Failure('invalid_utf8', `The text is not UTF-8: byte ${offset} cannot stand there.`, {
      hint: 'Convert it first, or attach it as a file',
      details: { offset },
    });
  }
}

/** The text of a file given by name. */
export function readTextFile(path: string): string {
  try {
    return asText(readFileSync(path));
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw usage(`The file ${path} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}.`);
  }
}

/** A prefix that decodes as far as it goes is text so far; that turns false at one place only. */
function firstInvalid(bytes: Buffer): number {
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (decodesSoFar(bytes.subarray(0, middle))) good = middle;
    else bad = middle;
  }
  return good;
}

function decodesSoFar(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
