/** No file stands in the sources, and nothing is exported, that no other file uses. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('../../', import.meta.url));
const files = ['bin', 'src', 'tools', 'test', 'migrations'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.[cm]?[jt]sx?$/.test(file) && !/node_modules|\.d\.ts$/.test(file))
    .map((file) => `${folder}/${file}`),
);
const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));

/** In how many files each word stands. */
const counts = new Map<string, number>();
for (const text of texts.values())
  for (const word of new Set(text.match(/\w+/g))) counts.set(word, (counts.get(word) ?? 0) + 1);

/** The table of operations takes all that these export; the program is entered by `start` and `run`. */
const taken = (file: string, name: string): boolean =>
  file.startsWith('src/contract/nouns/') || /^(start|run)$/.test(name);

describe('exports', () => {
  it('are used by another file', () => {
    const unused = [...texts].flatMap(([file, text]) =>
      /^(src|tools)\//.test(file)
        ? [...text.matchAll(/^export (?:async )?(?:abstract )?(?:const|function|class) (\w+)/gm)]
            .map(([, name]) => name!)
            .filter((name) => counts.get(name) === 1 && !taken(file, name))
            .map((name) => `${file}: ${name}`)
        : [],
    );
    expect(unused).to.deep.equal([]);
  });
});

/** What is started as a program of its own, or loaded by its name. */
const entries = (file: string): boolean =>
  ['src/local/entry.ts', 'src/local/keys/keychain.child.ts', 'src/web/main.tsx'].includes(file) ||
  file.startsWith('src/web/public/') ||
  /^src\/commands\/[^/]+(\/[^/]+)?\.ts$/.test(file);

describe('files of the sources', () => {
  it('are imported by another file', () => {
    const imported = new Set(
      [...texts].flatMap(([file, text]) =>
        [...text.matchAll(/'(\.{1,2}\/[^'$?]+)(?:\?[^']*)?'/g)].map(([, path]) =>
          posix.join(posix.dirname(file), path!),
        ),
      ),
    );
    const alone = files.filter((file) => file.startsWith('src/') && !imported.has(file) && !entries(file));
    expect(alone).to.deep.equal([]);
  });
});
