import { expect } from 'chai';
import fc from 'fast-check';
import { Backoff, backoff } from '../../src/daemon/server-link/backoff.ts';

describe('the pause before a server is asked again', () => {
  it('doubles from one second to a minute, times a half to one', () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), random, (failures, factor) => {
        const most = Math.min(60_000, 1_000 * 2 ** (failures - 1));
        expect(backoff(failures, factor)).to.be.within(Math.floor(most / 2), most);
      }),
    );
    expect([1, 2, 3, 7, 50].map((n) => backoff(n, 0))).to.deep.equal([500, 1_000, 2_000, 30_000, 30_000]);
  });

  it('is what the server asks for, up to five minutes', () => {
    expect(backoff(9, 0.3, 0)).to.equal(0);
    expect(backoff(1, 0.3, 17)).to.equal(17_000);
    expect(backoff(1, 0.3, 1_000)).to.equal(300_000);
  });

  it('begins anew once a connection has held for a minute, and not before', () => {
    const pauses = new Backoff(() => 0);
    expect([0, 0, 59_999, 60_000, 0].map((held) => pauses.nextDelay(held))).to.deep.equal([
      500, 1_000, 2_000, 500, 1_000,
    ]);
    pauses.reset();
    expect(pauses.nextDelay(0)).to.equal(500);
  });
});
