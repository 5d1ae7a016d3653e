/** What programs read is described: every command has the shape of its JSON, or is named as one that has none. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { shapes, withoutShape } from '../../tools/shapes/index.ts';

const folder = fileURLToPath(new URL('../../src/commands/', import.meta.url));
const ids = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -'.ts'.length).replaceAll(/[\\/]/g, ':'));

describe('the JSON of commands', () => {
  it('has a shape in tools/shapes for every command but those whose output is not its own', () => {
    expect([...Object.keys(shapes), ...withoutShape].sort()).to.deep.equal(ids.sort());
  });
});
