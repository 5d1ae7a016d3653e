import { expect } from 'chai';
import { defaultPrefixes, readSelector, referencesIn } from '../../src/server/tasks/references.rules.ts';

describe('task references', () => {
  it('are found in any case, each once, and not in code, links or longer words', () => {
    expect(referencesIn('see chk-17, CHK-2 and CHK-17.')).to.deep.equal(['CHK-17', 'CHK-2']);
    const none = [
      '`CHK-3`',
      '```\nCHK-3\n```',
      'https://x.example/CHK-3',
      'CHK-3-x',
      'CHK-03',
      'C-3',
      'CHECKOUT-3',
      '1CHK-3',
      'a.CHK-3',
      'x_CHK-3',
      '@CHK-3',
      'CHK-3é',
      'CHK-1234567890',
      'éCHK-3',
    ];
    for (const text of none) expect(referencesIn(text), text).to.deep.equal([]);
    expect(referencesIn('(CHK-3)"CHK-4" CHK-5!')).to.deep.equal(['CHK-3', 'CHK-4', 'CHK-5']);
  });

  it('name a task by reference, number or id', () => {
    expect(readSelector('chk-17')).to.deep.equal({ ref: 'CHK-17' });
    expect(readSelector('17')).to.deep.equal({ number: 17 });
    expect(readSelector('tsk_01K5A0000000000000000000T1')).to.deep.equal({ id: 'tsk_01K5A0000000000000000000T1' });
  });
});

describe('the prefix of a board', () => {
  const first = (name: string, n: number) => [...defaultPrefixes(name)].slice(0, n);

  it('comes from the letters of its name', () => {
    expect(first('general', 3)).to.deep.equal(['GEN', 'GEN2', 'GEN3']);
    expect(first('checkout-v2', 2)).to.deep.equal(['CHE', 'CHE2']);
    expect(first('x-9', 2)).to.deep.equal(['XX', 'XX2']);
    expect(first('42', 1)).to.deep.equal(['XX']);
  });

  it('goes on to shorter stems, never beyond six characters, and ends', () => {
    const all = [...defaultPrefixes('general')];
    expect(all).to.include.members(['GEN999', 'GE1000', 'GE9999', 'G10000', 'G99999']);
    expect(new Set(all).size).to.equal(all.length);
    expect(all.filter((prefix) => !/^[A-Z][A-Z0-9]{1,5}$/.test(prefix))).to.deep.equal([]);
  });
});
