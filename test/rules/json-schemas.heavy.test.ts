/** The published schemas of the JSON of commands, as a standard validator reads them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { publishedSchemas } from '../cli/support/published-schemas.ts';

const folder = fileURLToPath(new URL('../../schemas/cli/', import.meta.url));
const names = readdirSync(folder);
const textOf = (name: string): string => readFileSync(join(folder, name), 'utf8');

describe('the published schemas', () => {
  it('compile in strict mode, with every reference resolved by the $id of its file', () => {
    const schemas = publishedSchemas();
    for (const name of names) {
      expect(JSON.parse(textOf(name)).$id).to.equal(name);
      expect(schemas.getSchema(name), name).to.be.a('function');
    }
  });

  it('state each shared record once: every definition is used', () => {
    const all = names.map(textOf).join('\n');
    const defined = Object.keys(JSON.parse(textOf('definitions.json')).$defs);
    expect(defined.filter((name) => !all.includes(`#/$defs/${name}"`))).to.deep.equal([]);
  });

  it('refuse what a command never prints', () => {
    const schemas = publishedSchemas();
    const valid = (name: string, value: unknown): boolean => schemas.validate(name, value) as boolean;
    expect(valid('skill.json', { skill: 'text', added_later: 1 })).to.equal(true);
    expect(valid('skill.json', { skill: 7 })).to.equal(false);
    expect(valid('skill.json', { skill: 'text', warnings: [{ code: 'x' }] })).to.equal(false);
    expect(valid('error.json', { error: { code: 'forbidden', message: 'No.', hint: 'Ask.' } })).to.equal(true);
    expect(valid('error.json', { error: { code: 'forbidden' } })).to.equal(false);
  });
});
