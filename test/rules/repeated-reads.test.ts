import { expect } from 'chai';
import { REPEATS_MS, RepeatedReads } from '../../src/server/seats/budget.rules.ts';

const seat = { id: 'mem_1', read_up_to: 1, reads: 0, reads_since: null };
const given = { word: 0, brake: null, page: { first: 2, last: 2, wakes: true } };

describe('waiting reads that acknowledge nothing', () => {
  it('are written four at a time also where ten minutes ended while the last four were', () => {
    const counted = new RepeatedReads();
    const take = (now: number) => counted.take(seat, given, now).share;
    for (let n = 0; n < 3; n++) take(0);
    const late = take(REPEATS_MS - 1);
    take(REPEATS_MS);
    late?.stored();
    const shares = Array.from({ length: 8 }, () => take(REPEATS_MS)).filter(Boolean);
    expect(shares).to.have.length(2);
  });
});
