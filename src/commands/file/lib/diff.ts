/** Compares two versions of a file, or a version with a local file. */
import { existsSync, readFileSync } from 'node:fs';
import type { Output } from '../../../cli/output.ts';
import type { Paint } from '../../../cli/terminal/color.ts';
import { Failure, usage } from '../../../local/failure.ts';
import { readBytes } from './get.ts';
import { isBinary, unified } from './merge.ts';
import { type Files, notedAt } from './scope.ts';

interface Diff {
  from: string;
  to: string;
  diff: string;
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

interface Side {
  label: string;
  bytes: Buffer;
}

/** @param versions as they were typed; one is compared with the latest, none means the two latest. */
export async function diffOf(files: Files, name: string, versions: string[], out: Output): Promise<Diff> {
  const noted = versions.length === 0 && existsSync(name) ? notedAt(files, name) : null;
  if (noted) {
    const { file_id: file, version } = noted;
    const base = await side(files, file, noted.name, version, out);
    return compare(base, { label: name, bytes: readFileSync(name) });
  }
  const { board } = files.session;
  const { data } = await files.session.client.call('getFile', { params: { board, file: name } });
  const [from = Math.max(1, data.latest.version - 1), to = data.latest.version] = versions.map(versionOf);
  return compare(await side(files, data.id, data.name, from, out), await side(files, data.id, data.name, to, out));
}

function versionOf(text: string): number {
  const match = /^v?([1-9]\d{0,8})$/.exec(text);
  if (match) return Number(match[1]);
  throw usage(`A version is a number, but got "${text}".`);
}

async function side(files: Files, file: string, name: string, version: number, out: Output): Promise<Side> {
  return { label: `${name}@${version}`, bytes: (await readBytes(files, { file, version }, out)).bytes };
}

function compare(from: Side, to: Side): Diff {
  if (isBinary(from.bytes) || isBinary(to.bytes))
    throw new Failure('binary_to_terminal', 'These bytes are no text, so there are no lines to compare.', {
      hint: 'Get both versions and compare them with a program of their kind',
    });
  return { from: from.label, to: to.label, diff: unified(from, to) };
}
