import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Change, changesOf, Disk, kinds } from '../faults/lost-power.ts';
import { chance } from '../faults/random.ts';

const root = '/data';
const change = (kind: Change['kind'], path: string, more: Partial<Change> = {}): Change => ({
  at: 0n,
  kind,
  path: join(root, path),
  to: '',
  offset: 0,
  data: Buffer.alloc(0),
  ...more,
});
const write = (path: string, text: string, offset = 0): Change =>
  change('write', path, { data: Buffer.from(text), offset });

/** Every content that a file may have after power cuts; undefined where it is not there. */
function outcomes(changes: Change[], file: string): Set<string | undefined> {
  const found = new Set<string | undefined>();
  for (let seed = 0; seed < 60; seed++) {
    const target = mkdtempSync(join(tmpdir(), 'cut-'));
    const disk = new Disk(root);
    for (const one of changes) disk.run(one);
    disk.cut(target, chance(seed));
    const path = join(target, file);
    found.add(existsSync(path) ? readFileSync(path, 'latin1') : undefined);
    rmSync(target, { recursive: true });
  }
  return found;
}

describe('what a power cut leaves', () => {
  const made = [change('create', 'a'), change('flush', '')];

  it('has what was flushed, and any of what was not', () => {
    expect(outcomes([...made, write('a', 'one'), change('flush', 'a')], 'a')).to.deep.equal(new Set(['one']));
    expect(outcomes([...made, write('a', 'one')], 'a')).to.deep.equal(new Set(['', 'one']));
    const two = outcomes([...made, write('a', 'one'), change('flush', 'a'), write('a', 'x'), write('a', 'z', 2)], 'a');
    expect(two).to.deep.equal(new Set(['one', 'xne', 'onz', 'xnz']));
    const cut = [...made, write('a', 'one'), change('flush', 'a'), change('truncate', 'a', { offset: 1 })];
    expect(outcomes(cut, 'a')).to.deep.equal(new Set(['one', 'o']));
  });

  it('tears a write at the borders of sectors only', () => {
    const torn = outcomes(
      [...made, write('a', 'y'.repeat(1024)), change('flush', 'a'), write('a', 'n'.repeat(1024))],
      'a',
    );
    const half = (letter: string) => letter.repeat(512);
    expect(torn).to.deep.equal(new Set(['y', 'n'].flatMap((a) => ['y', 'n'].map((b) => half(a) + half(b)))));
  });

  it('has a name only once its folder was flushed, and a file in a folder that has its own', () => {
    const whole = [change('create', 'a'), write('a', 'one'), change('flush', 'a')];
    expect(outcomes(whole, 'a')).to.deep.equal(new Set([undefined, 'one']));
    const inside = [change('mkdir', 'f'), change('create', 'f/a'), change('flush', 'f')];
    expect(outcomes(inside, 'f/a')).to.deep.equal(new Set([undefined, '']));
    expect(outcomes([...inside, change('flush', '')], 'f/a')).to.deep.equal(new Set(['']));
  });

  it('follows a file to its new names, and forgets those it had', () => {
    const moved = [...made, write('a', 'one'), change('flush', 'a'), change('rename', 'a', { to: join(root, 'b') })];
    expect(outcomes(moved, 'b')).to.deep.equal(new Set([undefined, 'one']));
    expect(outcomes([...moved, change('flush', '')], 'b')).to.deep.equal(new Set(['one']));
    expect(outcomes([...moved, change('flush', '')], 'a')).to.deep.equal(new Set([undefined]));
    const linked = [...made, change('link', 'a', { to: join(root, 'b') }), change('unlink', 'a'), change('flush', '')];
    expect(outcomes([...linked, write('b', 'two'), change('flush', 'b')], 'b')).to.deep.equal(new Set(['two']));
    expect(outcomes(linked, 'a')).to.deep.equal(new Set([undefined]));
  });

  it('is told from a journal', () => {
    const head = Buffer.alloc(32);
    head.writeBigUInt64LE(7n, 0);
    head.writeBigUInt64LE(9n, 8);
    for (const [n, value] of [kinds.indexOf('write'), 2, 1, 3].entries()) head.writeUInt32LE(value, 16 + 4 * n);
    const journal = Buffer.concat([head, Buffer.from('/abxyz'), head, Buffer.from('/cd123')]);
    const [first, second] = changesOf(journal);
    expect(first).to.deep.equal({ at: 7n, kind: 'write', path: '/a', to: 'b', offset: 9, data: Buffer.from('xyz') });
    expect(second?.data.toString()).to.equal('123');
  });
});
