/** Judges what all tests of the API together did, on each database. */
import { expect } from 'chai';
import { secretPrefixes } from '../../src/contract/ids.ts';
import { type OperationName, operations } from '../../src/contract/operations.ts';
import { collectedFacts } from '../support/whole.ts';

for (const database of ['sqlite', 'postgres'])
  describe(`all tests of the API together (${database})`, () => {
    const facts = () => collectedFacts().filter(({ databases }) => databases === database);

    it('have called every operation with success', () => {
      const exercised = new Set(facts().flatMap((one) => one.exercised));
      // A stream is no call that ends.
      exercised.add('openStream');
      const names = Object.keys(operations) as OperationName[];
      expect(names.filter((name) => !exercised.has(name))).to.deep.equal([]);
    });

    it('had secrets of every kind to look for', () => {
      const looked = facts().map((one) => one.looked);
      expect(looked.reduce((sum, { servers }) => sum + servers, 0)).to.be.greaterThan(50);
      const kinds = [...Object.values(secretPrefixes), 'short code', 'csrf token'];
      expect(looked.flatMap(({ secrets }) => Object.keys(secrets))).to.include.members(kinds);
    });
  });
