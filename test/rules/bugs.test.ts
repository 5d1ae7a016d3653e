/** The bugs that tests of failures put into a server: each still finds its place in the sources. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { bugs } from '../faults/bugs.mjs';

describe('a bug that is put into a server on purpose', () => {
  for (const [name, { file, find, put }] of Object.entries(bugs))
    it(`has its places: ${name}`, () => {
      const source = readFileSync(new URL(`../../src/server/${file}`, import.meta.url), 'utf8');
      const places = typeof find === 'string' ? [find] : find.source.split('|').map((place) => new RegExp(place));
      for (const place of places) expect(source.replace(place, put as string), String(place)).to.not.equal(source);
    });
});
