import { expect } from 'chai';
import { type OperationName, operations } from '../../src/contract/operations.ts';
import { exercised } from '../support/api.ts';

describe('all tests of the API together', () => {
  it('have called every operation with success', function () {
    const missing = (Object.keys(operations) as OperationName[]).filter(
      (name) => !exercised.has(name) && name !== 'openStream',
    );
    // Alone, this file has nothing to say.
    if (exercised.size === 0) this.skip();
    expect(missing).to.deep.equal([]);
  });
});
