/** Fake programs of harnesses on the kit's PATH: they print a version, and have a queue. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Profile } from '../../src/harness/profile.ts';

/** Writes the fake program of a profile into a folder of PATH. @param folder where it keeps its queue */
export function placeProgram(bin: string, folder: string, profile: Profile): string {
  const path = join(bin, profile.checks.installed.run[0]!);
  const script = join(folder, 'program.cjs');
  writeFileSync(
    script,
    source.replace('%FOLDER%', () => JSON.stringify(folder)),
  );
  // The version is asked for often, so it is printed without starting Node.
  const version = `if [ "$1" = --version ]; then exec cat '${join(folder, 'version')}'; fi`;
  writeFileSync(path, `#!/bin/sh\n${version}\nexec '${process.execPath}' '${script}' "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Sets the version that the fake program prints. */
export const setVersion = (folder: string, version: string): void =>
  writeFileSync(join(folder, 'version'), `${version}\n`);

/** Makes the next calls of its queue command fail. */
export const failQueue = (folder: string, times: number): void =>
  writeFileSync(join(folder, 'queue-fail'), String(times));

const source = String.raw`
const { existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const folder = %FOLDER%;
const [verb, ...words] = process.argv.slice(2);
const after = (name) => words[words.indexOf(name) + 1];
if (verb === 'queue') {
  const failing = join(folder, 'queue-fail');
  const left = existsSync(failing) ? Number(readFileSync(failing, 'utf8')) : 0;
  if (left > 0) {
    writeFileSync(failing, String(left - 1));
    console.error('no rollout found');
    process.exit(1);
  }
  const name = Date.now() + '-' + process.pid + '.json';
  writeFileSync(join(folder, name), JSON.stringify({ thread: after('--thread'), message: after('--message') }));
  renameSync(join(folder, name), join(folder, 'queue', name));
} else if (verb === 'app-server') {
  let rest = '';
  process.stdin.on('data', (piece) => {
    rest += piece;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      const { id, method, params } = JSON.parse(rest.slice(0, end));
      rest = rest.slice(end + 1);
      if (method === 'initialize') console.log(JSON.stringify({ id, result: {} }));
      if (method !== 'thread/read') continue;
      const there = existsSync(join(folder, 'threads', params.threadId));
      console.log(JSON.stringify(there ? { id, result: { thread: { id: params.threadId, source: 'cli' } } } : { id, error: { message: 'thread not found' } }));
    }
  });
} else process.exit(2);
`;
