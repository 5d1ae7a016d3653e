/** The README claims of agent programs what the tests in them showed, and nothing else. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { builtinProfile } from '../../src/harness/builtin.ts';
import { type Shown, table, tableInReadme } from '../support/harness-table.ts';

describe('the README’s table of agent programs', () => {
  it('says what the tests in them showed last', () => {
    const shown = JSON.parse(readFileSync(new URL('../harness/results.json', import.meta.url), 'utf8')) as Shown[];
    expect(shown).to.have.length.greaterThan(0);
    expect(tableInReadme()).to.equal(table(shown));
  });

  it('is of the versions that the profiles name as proved', () => {
    const shown = JSON.parse(readFileSync(new URL('../harness/results.json', import.meta.url), 'utf8')) as Shown[];
    for (const { harness, version } of shown)
      expect(builtinProfile(harness)?.checks.proved_version, harness).to.equal(version);
  });
});
