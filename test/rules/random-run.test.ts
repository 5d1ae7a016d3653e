/** The random runs of the tests of faults: what they plan is what they were asked for. */
import { expect } from 'chai';
import { chance } from '../faults/random.ts';
import { plannedFaults } from '../faults/random-run.ts';

describe('a random run', () => {
  it('plans as many kills and jumps as it was asked for, though several fall on one request', () => {
    let together = 0;
    for (let seed = 1; seed <= 100; seed++) {
      const planned = [...plannedFaults(chance(seed), 2, { kills: 2, jumps: 2 }).values()];
      const kills = planned.flat().filter((fault) => 'kill' in fault).length;
      expect([kills, planned.flat().length], `seed ${seed}`).to.deep.equal([2, 4]);
      together += planned.filter(({ length }) => length > 1).length;
    }
    expect(together).to.be.greaterThan(0);
  });
});
