/** Every command that a hint, a help text or a bundle names is one that exists, and so are its flags. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { choose } from '../../src/cli/dispatch.ts';
import { type CatalogCommand, commandNames, readCatalog, topics } from '../../src/cli/help/catalog.ts';

const root = join(import.meta.dirname, '..', '..');
const catalog = readCatalog(root);
const names = commandNames(catalog);
const firstWords = new Set(
  Object.values(catalog.commands).flatMap(({ id, aliases }) => [id, ...aliases].map((name) => name.split(/[: ]/)[0]!)),
);
/** What the server calls its connections to a database. */
const connections = new Set(['files', 'locks', 'start']);

interface Named {
  where: string;
  line: string;
}

/** A command after a quote, a bracket, a colon or such, whatever its name is; and the name of one within a sentence. */
const COMMANDS = [
  /(?:^|[`'"(:>]|: |, (?:or|then) |\bwith )service ((?:[a-z][a-z-]*)[^`'"()\n;|]*)/g,
  new RegExp(`(?<![\\w/.@-])(?<!Join )service ((?:${[...firstWords].join('|')})(?![\\w-])[^\`'"()<\\n;|]*)`, 'g'),
];

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
      .flatMap((line) => COMMANDS.flatMap((pattern) => [...line.matchAll(pattern)]))
      .map(([, text]) => ({ where: path, line: tidied(text!) }))
      .filter(({ line }) => !connections.has(line)),
  );
}

const wordsOf = (line: string): string[] => line.split(/\s+/).map((word) => word.replace(/[.,:?]+$/, ''));

/** The flags of a command line, with the word behind each. */
function flagsOf({
  line,
}: Named): { command: CatalogCommand; flags: { name: string; value: string | undefined }[] } | null {
  const chosen = choose(wordsOf(line), names);
  if (chosen.kind !== 'command') return null;
  const { id, argv } = chosen;
  const command = catalog.commands[id]!;
  const end = argv.indexOf('--');
  const words = argv.slice(0, end < 0 ? undefined : end);
  const flags = words.flatMap((word, n) => {
    const [, name, value] = /^--([a-z][a-z-]*)(?:=(.*))?/.exec(word) ?? [];
    return name === undefined ? [] : [{ name, value: value ?? words[n + 1] }];
  });
  return { command, flags };
}

describe('every command that our texts name', () => {
  const all = named();

  it('is found by this test', () => {
    expect(all.length).to.be.above(600);
  });

  it('exists', () => {
    const unknown = all.filter(({ line }) => {
      const [topic = '', next = ''] = wordsOf(line);
      // What fills in the second word of a topic is not known here.
      const open = Object.hasOwn(topics, topic) && next !== '' && !/^[a-z]/.test(next);
      return choose(wordsOf(line), names).kind === 'unknown' && !open;
    });
    expect(unknown).to.deep.equal([]);
  });

  it('has the flags that it is named with, and they take the values', () => {
    const wrong = all.flatMap((one) => {
      const { command, flags } = flagsOf(one) ?? { command: null, flags: [] };
      return flags
        .filter(({ name, value }) => {
          const flag = command?.flags[name];
          if (!flag) return name !== 'help';
          const choices = flag.type === 'option' && /^[a-z]/.test(value ?? '') ? flag.options : undefined;
          return choices !== undefined && !choices.includes(value!);
        })
        .map(({ name }) => `${one.where}: --${name} in ${one.line}`);
    });
    expect(wrong).to.deep.equal([]);
  });
});
