import { expect } from 'chai';
import { type OperationName, operations } from '../../src/contract/operations.ts';
import { exercised } from '../support/api.ts';
import { ofTheWholeApi } from '../support/whole.ts';

ofTheWholeApi('all tests of the API together', () => {
  it('have called every operation with success', () => {
    const missing = (Object.keys(operations) as OperationName[]).filter(
      (name) => !exercised.has(name) && name !== 'openStream',
    );
    expect(missing).to.deep.equal([]);
  });
});
