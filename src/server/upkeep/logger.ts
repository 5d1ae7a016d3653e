/** The server's log: JSON lines for machines, short lines for a person at a terminal. */
import { constants, copyFileSync, fstatSync, ftruncateSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import pino, { type Logger } from 'pino';
import { escapeUntrusted } from '../../contract/text.ts';

export interface LogOptions {
  dataDir: string;
  logLevel?: string;
  logFormat?: 'json' | 'text';
  /** Where lines go; default stderr. */
  logTo?: { write(line: string): void };
  /** Other processes write to the same log. */
  supervised?: boolean | undefined;
}

/** A person at a terminal is told of what is wrong, not of what goes well, unless they ask for a level. */
export function makeLogger({ dataDir, logLevel, logFormat, logTo, supervised }: LogOptions): Logger {
  const text = logFormat === 'text';
  const options = {
    level: logLevel ?? (text ? 'warn' : 'info'),
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const to = logTo ?? stderr(dataDir, supervised === true);
  return pino(options, text ? { write: (line: string) => to.write(escapeUntrusted(asText(line))) } : to);
}

/** Bytes of lines that are kept until they can be written; what comes when there are more is lost. */
const MOST_KEPT = 1_048_576;

/** Bytes of the log file of a server in the background, which is then put aside in place of the one before. */
const MOST_BYTES = 10_485_760;

/** Lines that cannot be written, such as to a file on a full disk, must not end the server. */
function stderr(dataDir: string, shared: boolean): { write(line: string): void } {
  const to = pino.destination({ fd: 2, sync: true, maxLength: MOST_KEPT });
  to.on('error', () => {});
  const file = join(dataDir, 'server.log');
  // Where it was not opened to append, it would go on behind a hole as long as what was put aside.
  if (shared || !isStderr(file) || !appends()) return to;
  return {
    write(line) {
      to.write(line);
      if (fstatSync(2).size >= MOST_BYTES) putAside(file);
    },
  };
}

/** Whether standard error goes to this file. */
function isStderr(file: string): boolean {
  const [named, open] = [statSync(file, { throwIfNoEntry: false }), fstatSync(2)];
  return named !== undefined && named.ino === open.ino && named.dev === open.dev;
}

/** Whether standard error was opened to append; only Linux tells. */
function appends(): boolean {
  try {
    const [, flags = ''] = /^flags:\s*([0-7]+)$/m.exec(readFileSync('/proc/self/fdinfo/2', 'utf8')) ?? [];
    return (Number.parseInt(flags, 8) & constants.O_APPEND) !== 0;
  } catch {
    return true;
  }
}

/** Copied, not renamed: standard error stays open and goes on at the end of the same file. */
function putAside(file: string): void {
  try {
    copyFileSync(file, `${file}.1`);
  } catch {
    // A full disk needs the room all the more.
  }
  ftruncateSync(2);
}

interface Line {
  level: string;
  time: string;
  msg?: string;
  err?: { stack?: string; message?: string };
  [field: string]: unknown;
}

/** `10:15:35 warn  the words  field=value`, with an error's stack below. */
function asText(json: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(json) as Line;
  const rest = Object.entries(fields).map(
    ([name, value]) => `  ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const stack = err ? `\n${err.stack ?? err.message ?? ''}` : '';
  return `${time.slice(11, 19)} ${level.padEnd(5)} ${msg ?? ''}${rest.join('')}${stack}\n`;
}
