/** What clients know of the operations is what the operations say. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { routesText } from '../../tools/routes.ts';

describe("the clients' table of operations", () => {
  it('fits the operations: node tools/build.ts makes it anew', () => {
    const path = new URL('../../src/contract/routes.ts', import.meta.url);
    expect(readFileSync(path, 'utf8')).to.equal(routesText());
  });
});
