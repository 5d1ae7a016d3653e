/** What programs read is described: every command has the shape of its JSON, or is named as one that has none. */
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { commandFiles } from '../../tools/commands.ts';
import { shapes, withoutShape } from '../../tools/shapes/index.ts';

const ids = Object.keys(commandFiles(fileURLToPath(new URL('../../', import.meta.url))));

describe('the JSON of commands', () => {
  it('has a shape in tools/shapes for every command but those whose output is not its own', () => {
    expect([...Object.keys(shapes), ...withoutShape].sort()).to.deep.equal(ids.sort());
  });
});
