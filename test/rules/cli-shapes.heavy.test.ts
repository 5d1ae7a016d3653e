/** What programs read is described: every command has the shape of its JSON, or is named as one that has none. */
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { commandFiles } from '../../tools/commands.ts';
import { allShapes } from '../../tools/shapes.ts';

/** Their output is no JSON, or that of another program. */
const withoutShape = [
  'complete',
  'daemon:logs',
  'daemon:run',
  'harness:fake',
  'hook',
  'openapi',
  'serve',
  'server:logs',
];

describe('the JSON of commands', () => {
  it('has a shape in the command’s file, but for those whose output is not its own', async () => {
    const ids = Object.keys(commandFiles(fileURLToPath(new URL('../../', import.meta.url))));
    expect([...Object.keys(await allShapes()), ...withoutShape].sort()).to.deep.equal(ids.sort());
  });
});
