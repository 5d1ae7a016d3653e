/** Every command that a hint, a help text or a bundle names is one that exists, and so are its flags. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { globalFlags } from '../../src/cli/flags.ts';
import { type CatalogCommand, readCatalog, topics } from '../../src/cli/help/catalog.ts';

const root = join(import.meta.dirname, '..', '..');
const { commands } = readCatalog(root);
const byName = new Map<string, CatalogCommand>(
  Object.values(commands).flatMap((command) =>
    [command.id, ...command.aliases].map((name) => [name.replaceAll(':', ' '), command] as const),
  ),
);
/** What the server calls its connections to a database. */
const connections = new Set(['files', 'locks', 'start']);

interface Named {
  where: string;
  line: string;
}

/** Where a command begins: after a quote, a bracket, a colon or such. Prose that only speaks of a service is left out. */
const COMMAND = /(?:^|[`'"(:>]|: |, (?:or|then) |\bwith )service ((?:[a-z][a-z-]*)[^`'"()\n;|]*)/g;

/** What is filled in later is a word that is no name; a further sentence is none of it. */
const tidied = (text: string): string =>
  text
    .replaceAll(/\$\{[^}]*\}?/g, ' X ')
    .replaceAll('\\', ' ')
    .replace(/\. [A-Z].*$/, '')
    .trim();

function named(): Named[] {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  return files.flatMap((path) =>
    readFileSync(join(root, 'src', path), 'utf8')
      .split('\n')
      .filter((line) => !/^\s*(\/\/|\/?\*)/.test(line))
      .flatMap((line) => [...line.matchAll(COMMAND)].map(([, text]) => ({ where: path, line: tidied(text!) })))
      .filter(({ line }) => !connections.has(line)),
  );
}

/** The longest name that the words begin with, and the words behind it. */
function commandOf(line: string): { command: CatalogCommand | undefined; rest: string[] } {
  const words = line.split(/\s+/);
  const plain = words.map((word) => word.replace(/[.,:?]+$/, ''));
  for (const count of [3, 2, 1]) {
    const command = byName.get(plain.slice(0, count).join(' '));
    if (command && words.length >= count) return { command, rest: words.slice(count) };
  }
  return { command: undefined, rest: words.slice(1) };
}

describe('every command that our texts name', () => {
  const all = named();

  it('is found by this test', () => {
    expect(all.length).to.be.above(300);
  });

  it('exists', () => {
    const unknown = all.filter(({ line }) => {
      const { command, rest } = commandOf(line);
      // A topic by itself runs one of its commands, or shows them; what fills in its second word is not known here.
      const alone = Object.hasOwn(topics, line.split(/[^a-z-]/)[0]!) && !/^[a-z]/.test(rest[0] ?? '');
      return command === undefined && !alone;
    });
    expect(unknown).to.deep.equal([]);
  });

  it('has the flags that it is named with', () => {
    const wrong = all.flatMap(({ where, line }) => {
      const { command, rest } = commandOf(line);
      const end = rest.indexOf('--');
      const flags = rest
        .slice(0, end < 0 ? undefined : end)
        .flatMap((word) => /^--([a-z][a-z-]*)/.exec(word)?.[1] ?? []);
      const known = { ...globalFlags, ...command?.flags };
      return command
        ? flags.filter((flag) => !Object.hasOwn(known, flag)).map((flag) => `${where}: --${flag} in ${line}`)
        : [];
    });
    expect(wrong).to.deep.equal([]);
  });
});
