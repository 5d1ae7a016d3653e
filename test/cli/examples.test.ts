/** What help shows can be typed: every example is understood by the parser of its command. They are run by examples-run.test.ts. */
import { join } from 'node:path';
import { parse } from '@oclif/core/parser';
import { expect } from 'chai';
import { choose } from '../../src/cli/dispatch.ts';
import { globalFlags } from '../../src/cli/flags.ts';
import { commandNames, readCatalog, topics, visibleCommands } from '../../src/cli/help/catalog.ts';
import { root } from './support/root.ts';
import { callsOf } from './support/words.ts';

interface Parsing {
  args: never;
  flags: object;
  strict: boolean;
  prototype: { prepare(argv: string[]): string[] };
}

describe('examples', () => {
  const catalog = readCatalog(root);
  const names = commandNames(catalog);
  const commands = visibleCommands(catalog);

  it('belong to every command, with a summary and a description', () => {
    for (const { id, summary, description, examples } of Object.values(catalog.commands)) {
      expect(summary, id).to.match(/\S/);
      expect(description, id).to.match(/\S/);
      expect(examples?.length ?? 0, id).to.be.greaterThan(0);
    }
  });

  for (const { id, examples, relativePath } of commands) {
    it(`of ${id.replaceAll(':', ' ')} can be typed`, async () => {
      const { default: Command } = (await import(join(root, ...relativePath))) as { default: Parsing };
      for (const example of examples ?? []) {
        const calls = callsOf(example);
        expect(calls.length, `service in: ${example}`).to.be.greaterThan(0);
        const chosen = choose(calls.at(-1)!, names);
        if (chosen.kind !== 'command') throw new Error(`no command: ${example}`);
        expect(chosen.id, example).to.equal(id);
        const options = { args: Command.args, flags: { ...globalFlags, ...Command.flags }, strict: Command.strict };
        await parse(Command.prototype.prepare(chosen.argv), options as never).catch((error: Error) => {
          throw new Error(`${example}: ${error.message}`);
        });
      }
    });
  }

  it('of what to look at next name commands', () => {
    for (const { id, seeAlso } of commands) {
      for (const other of seeAlso ?? []) {
        const found = choose(other.split(' '), names);
        const topic = topics[other] !== undefined;
        expect(found.kind === 'command' || topic, `${id}: see also ${other}`).to.equal(true);
      }
    }
  });
});
