import { existsSync, readFileSync } from 'node:fs';
import { BaseCommand, optional, required } from '../../cli/base.ts';
import type { Output } from '../../cli/output.ts';
import { object, text } from '../../cli/shapes.ts';
import { Failure, usage } from '../../local/failure.ts';
import { readBytes } from './lib/get.ts';
import { diffText, isBinary, unified } from './lib/merge.ts';
import { type Files, filesOf, notedAt } from './lib/scope.ts';

export const json = () => object({ from: text, to: text, diff: text });

export default class FileDiff extends BaseCommand<typeof FileDiff> {
  static override readOnly = true;
  static override summary = 'Show what changed between two versions of a file, or here since it was got';
  static override description =
    'With a file of this machine that was got or put: against the version it came from. With a path on the board: V1\nagainst V2, V1 against the latest, or the two latest.';
  static override examples = [
    'service file diff api.md',
    'service file diff notes/api.md 3 5',
    'service file diff notes/api.md 3',
  ];
  static override seeAlso = ['file get', 'file put', 'file show'];
  static override args = {
    name: required('File on this machine, or path on the board'),
    v1: optional('Version to compare'),
    v2: optional('Version to compare it with'),
  };

  override async run(): Promise<void> {
    const files = await filesOf(await this.onBoard('A'));
    const { name, v1, v2 } = this.args;
    const versions = [v1, v2].filter((version) => version !== undefined);
    const record = await diffOf(files, name, versions, this.out);
    const text = diffText(record.diff.replace(/\n$/, ''), this.out.paint);
    this.print<typeof json>(record, () => text || `${record.from} and ${record.to} are the same.`);
  }
}

interface Side {
  label: string;
  bytes: Buffer;
}

/** @param versions as they were typed; one is compared with the latest, none means the two latest. */
async function diffOf(files: Files, name: string, versions: string[], out: Output) {
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

function compare(from: Side, to: Side) {
  if (isBinary(from.bytes) || isBinary(to.bytes))
    throw new Failure('binary_to_terminal', 'These bytes are no text, so there are no lines to compare.', {
      hint: 'Get both versions and compare them with a program of their kind',
    });
  return { from: from.label, to: to.label, diff: unified(from, to) };
}
