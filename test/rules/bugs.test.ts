/** The bugs that tests of failures put into a server: each still finds its place in the sources. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { bugs } from '../faults/bugs.mjs';

describe('a bug that is put into a server on purpose', () => {
  for (const [name, { file, find, put }] of Object.entries(bugs))
    it(`has its place: ${name}`, () => {
      const source = readFileSync(new URL(`../../src/server/${file}`, import.meta.url), 'utf8');
      expect(source.replace(find, put)).to.not.equal(source);
    });
});
