/** Merges versions of a file with git, with conflict markers where both sides changed, and shows how two differ. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Paint } from '../../../cli/terminal/color.ts';
import { Failure } from '../../../local/failure.ts';

interface ThreeWays {
  /** What both began with, what is there now, what is here. */
  base: Buffer;
  theirs: Buffer;
  ours: Buffer;
  labels: { base: string; theirs: string };
}

/** Whether bytes are no text: then nothing is merged. */
export const isBinary = (bytes: Buffer): boolean => bytes.subarray(0, 8_192).includes(0);

/** Null where there is no git. @throws Failure `merge_unavailable` for what is no text. */
export function merge({ base, theirs, ours, labels }: ThreeWays): { bytes: Buffer; conflicts: number } | null {
  if ([base, theirs, ours].some(isBinary)) {
    throw new Failure('merge_unavailable', 'These bytes are no text, so they cannot be merged.', {
      hint: 'Get the version that is there under another path and decide between the two',
    });
  }
  const names = ['yours', labels.base, labels.theirs].flatMap((label) => ['-L', label]);
  const { status, stdout } = onFiles('git', ['merge-file', '-p', '--diff3', ...names], [ours, base, theirs]);
  if (status === null || status > 127) return null;
  return { bytes: stdout, conflicts: status };
}

/** Whether a text still has the marks of a merge that was left to the person. */
export const hasMarks = (bytes: Buffer): boolean =>
  [/^<<<<<<< yours$/m, /^>>>>>>> v\d+$/m].every((mark) => mark.test(bytes.toString()));

/** Lines that differ, as `diff -u` prints them; empty where there are none. */
export function unified(from: { label: string; bytes: Buffer }, to: { label: string; bytes: Buffer }): string {
  const options = ['-u', '--label', from.label, '--label', to.label];
  const { status, stdout } = onFiles('diff', options, [from.bytes, to.bytes]);
  if (status === 0 || status === 1) return stdout.toString();
  throw new Failure('merge_unavailable', 'There is no diff program on this machine.', {
    hint: 'Install diffutils, or get both versions and compare them',
  });
}

/** Runs a program on files that hold these bytes, and that are gone after it. `status` is null where it did not run. */
function onFiles(program: string, options: string[], contents: Buffer[]) {
  const folder = mkdtempSync(join(tmpdir(), 'service-merge-'));
  try {
    const paths = contents.map((bytes, n) => {
      const path = join(folder, String(n));
      writeFileSync(path, bytes, { mode: 0o600 });
      return path;
    });
    return spawnSync(program, [...options, ...paths], { maxBuffer: 256 * 1_048_576 });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Added lines are green, removed ones red, and line numbers cyan. The first two lines name the versions. */
export const diffText = (diff: string, { bold, cyan, green, red }: Paint): string =>
  diff
    .split(/\r?\n/)
    .map((line, i) => {
      if (i < 2) return bold(line);
      if (line.startsWith('+')) return green(line);
      if (line.startsWith('-')) return red(line);
      return line.startsWith('@@') ? cyan(line) : line;
    })
    .join('\n');
