/** `--jq EXPRESSION`: filters a command's JSON with jq itself, compiled to WebAssembly and loaded only when used. */
import { Failure, usage } from '../local/failure.ts';
import { isDone } from './done.ts';

/**
 * Each value on a line of its own, texts as they are.
 *
 * @param indented whether objects and lists are spread over lines, for people to read.
 * @throws Failure for an invalid expression, before anything is printed.
 */
export async function jqFilter(expression: string, indented: boolean): Promise<(record: unknown) => string> {
  const { loadJq } = await import('jq-wasm');
  const jq = await loadJq();
  const valuesOf = (input: string): string[] => {
    const { stdout, stderr, exitCode } = interruptible(() => jq.raw(input, expression, ['-c', '--']));
    if (exitCode !== 0) throw refused(stderr);
    return stdout.split('\n').filter(Boolean);
  };
  // Without input it is read, but not run.
  valuesOf('');
  return (record) =>
    valuesOf(JSON.stringify(record))
      .map((value) => `${shown(value, indented)}\n`)
      .join('');
}

/** A value that is not a text stays as jq wrote it: its numbers may be larger than ours. */
function shown(value: string, indented: boolean): string {
  if (value.startsWith('"')) return JSON.parse(value) as string;
  return indented && /^[[{]/.test(value) ? JSON.stringify(JSON.parse(value), null, 2) : value;
}

/** An expression may never end, and no handler of ours runs meanwhile: signals end the process as the system does it. */
function interruptible<T>(work: () => T): T {
  const kept = (['SIGINT', 'SIGTERM'] as const).map((signal) => ({ signal, listeners: process.listeners(signal) }));
  for (const { signal } of kept) process.removeAllListeners(signal);
  try {
    return work();
  } finally {
    for (const { signal, listeners } of kept) for (const listener of listeners) process.on(signal, listener);
  }
}

/** In jq's own words, of which those are left out that tell where it read. */
function refused(stderr: string): Failure {
  const words = `--jq: ${stderr.replaceAll(/^jq: (?:error(?: \(at [^)]*\))?: )?/gm, '').trim()}`;
  if (!isDone()) return usage(words, 'To see what there is, leave --jq out and say --json');
  return new Failure('output_lost', `${words}\nWhat the command did stands.`, {
    hint: 'Look at what is there before you run it again',
  });
}
