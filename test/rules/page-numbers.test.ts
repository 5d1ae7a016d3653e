/** Numbers of the page. */
import { expect } from 'chai';
import { least } from '../../src/web/parts/number.ts';

describe('the least of numbers', () => {
  it('is found among more than a call takes as arguments, and is infinite without one', () => {
    const many = new Map(Array.from({ length: 200_000 }, (_, index) => [200_000 - index, index]));
    expect(() => Math.min(...many.keys())).to.throw(RangeError);
    expect(least(many.keys())).to.equal(1);
    expect(least([])).to.equal(Number.POSITIVE_INFINITY);
  });
});
