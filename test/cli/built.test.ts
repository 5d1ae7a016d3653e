/** What is generated fits its sources, and rules that every command keeps. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readCatalog } from '../../src/cli/help/catalog.ts';
import { commandFiles } from '../../tools/commands.ts';
import { docPages } from '../../tools/docs.ts';
import { jsonSchemas } from '../../tools/json-schemas.ts';
import { manPages } from '../../tools/man.ts';
import { manifestText } from '../../tools/manifest.ts';
import { allShapes } from '../../tools/shapes.ts';
import { root } from './support/home.ts';

const folder = join(root, 'src', 'commands');
const files = Object.values(commandFiles(root));

describe('the built command line', () => {
  it('has a manifest that fits the commands', async () => {
    expect(await manifestText(root)).to.equal(readFileSync(join(root, 'oclif.manifest.json'), 'utf8'));
  });

  const generated: [string, string, () => Promise<Record<string, string>>][] = [
    ['man pages', 'man', async () => manPages(readCatalog(root))],
    ['pages to read', 'docs/cli', async () => docPages(readCatalog(root), await allShapes())],
    ['schemas of its JSON', 'schemas/cli', async () => jsonSchemas(await allShapes())],
  ];
  for (const [what, place, make] of generated)
    it(`has ${what} that fit the commands`, async () => {
      const files = await make();
      expect(readdirSync(join(root, place)).sort()).to.deep.equal(Object.keys(files).sort());
      for (const [name, text] of Object.entries(files))
        expect(text, name).to.equal(readFileSync(join(root, place, name), 'utf8'));
    });

  it('has a summary, a description and examples for every command', () => {
    const commands = Object.values(readCatalog(root).commands);
    expect(commands).to.have.length(files.length);
    for (const { id, summary, description, examples } of commands) {
      expect(summary, id).to.match(/^[A-Z].*[^.]$/);
      expect(description, id).to.match(/\.$/);
      expect(examples?.length, id).to.be.greaterThan(0);
    }
  });

  it('never reads standard input into an argument', async () => {
    for (const file of files) {
      const { default: Command } = (await import(join(folder, file))) as {
        default: { args?: Record<string, { ignoreStdin?: boolean }> };
      };
      for (const [name, arg] of Object.entries(Command.args ?? {}))
        expect(arg.ignoreStdin, `${file} ${name}`).to.equal(true);
    }
  });

  it('has commands of at most 160 lines', () => {
    for (const file of files)
      expect(readFileSync(join(folder, file), 'utf8').trimEnd().split('\n').length, file).to.be.at.most(160);
  });
});
