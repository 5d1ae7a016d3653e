import { expect } from 'chai';
import { shardsOf } from '../support/shards.ts';

const times = { a: { 'a1.ts': 60, 'a2.ts': 50, 'a3.ts': 40, 'a4.ts': 30 }, b: { 'b1.ts': 200 } };
const kinds = [
  { name: 'a', files: ['a1.ts', 'a2.ts', 'a3.ts', 'a4.ts', 'new.ts'], env: { X: '1' } },
  { name: 'b', files: ['b1.ts'] },
  { name: 'c', files: [] },
];

describe('the shards of a test run', () => {
  it('take about the same time, each with the settings of its kind, and the kinds are mixed', () => {
    expect(shardsOf(kinds, times, 100, 3)).to.deep.equal([
      { name: 'a', files: ['a1.ts', 'a4.ts', 'new.ts'], env: { X: '1' } },
      { name: 'b', files: ['b1.ts'] },
      { name: 'a', files: ['a2.ts', 'a3.ts'], env: { X: '1' } },
    ]);
  });

  it('are one a lane where they start together, and hold every file once', () => {
    const shards = shardsOf(kinds.slice(0, 1), times, null, 2);
    expect(shards.map(({ files }) => files.length)).to.deep.equal([3, 2]);
    expect(shards.flatMap(({ files }) => files).sort()).to.deep.equal(kinds[0]!.files);
  });
});
