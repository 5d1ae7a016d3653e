import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { forget, keep, load } from '../../bin/load.js';

describe('a packed file', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'board-load-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** A file, and its exports as each start would see them. */
  function packed(name: string, text: string) {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  }

  const says = (word: string) =>
    `exports.word = '${word}'; exports.place = [__dirname, require('node:path').basename(__filename)];`;

  it('exports the same with and without its compiled form, and with one that is no such thing', () => {
    const file = packed('one.cjs', says('one'));
    const exported = { word: 'one', place: [folder, 'one.cjs'] };
    expect(load(file)).to.deep.equal(exported);
    keep(file);
    expect(existsSync(`${file}.cache`)).to.equal(true);
    expect(load(file)).to.deep.equal(exported);
    writeFileSync(`${file}.cache`, 'of another Node');
    expect(load(file)).to.deep.equal(exported);
    forget(file);
    expect(existsSync(`${file}.cache`)).to.equal(false);
  });

  it('is what stands there, not what an older build compiled', () => {
    const older = packed('other.cjs', says('older'));
    keep(older);
    const file = packed('other.cjs', says('what came later'));
    expect(load(file).word).to.equal('what came later');
  });
});
