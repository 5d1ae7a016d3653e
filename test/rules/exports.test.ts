/** No file stands in the sources, and nothing is exported, that no other file uses. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { readModule } from '../support/modules.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const files = ['bin', 'src', 'tools', 'test', 'migrations'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.[cm]?[jt]sx?$/.test(file) && !/node_modules|\.d\.ts$/.test(file))
    .map((file) => `${folder}/${file}`),
);
const modules = files.map((file) => ({ file, ...readModule(file, readFileSync(join(root, file), 'utf8')) }));

/** The names that other files import from each file. */
const imported = new Map<string, Set<string>>();
for (const { file, imports } of modules)
  for (const { specifier, names } of imports) {
    const from = posix.join(posix.dirname(file), specifier.replace(/\?.*/, ''));
    imported.set(from, new Set([...(imported.get(from) ?? []), ...names]));
  }

/** What is started as a program of its own, or loaded by its name. */
const isEntry = (file: string): boolean =>
  /^src\/(local\/entry|local\/keys\/keychain\.child|hook\/main|web\/main)\.tsx?$/.test(file) ||
  file.startsWith('src/web/public/') ||
  file === 'tools/harness-kit/kit.ts' ||
  /^src\/commands\/[^/]+(\/[^/]+)?\.ts$/.test(file);

const isUsed = (file: string, { name, isType }: { name: string; isType: boolean }): boolean => {
  const names = imported.get(file) ?? new Set();
  return names.has(name) || (!isType && names.has('*')) || (isEntry(file) && /^(default|json|start|kit)$/.test(name));
};

describe('exports', () => {
  it('are imported by another file, those of types included', () => {
    const unused = modules
      .filter(({ file }) => /^(src|tools)\//.test(file))
      .flatMap(({ file, exports }) => exports.flatMap((one) => (isUsed(file, one) ? [] : `${file}: ${one.name}`)));
    expect(unused).to.deep.equal([]);
  });
});

describe('files of the sources', () => {
  it('are imported by another file', () => {
    const alone = files.filter((file) => file.startsWith('src/') && !imported.has(file) && !isEntry(file));
    expect(alone).to.deep.equal([]);
  });
});
