import { expect } from 'chai';
import { inviteLink, readInviteLink } from '../../src/contract/links.ts';
import { slug } from '../../src/contract/text.ts';

describe('the link of an invite', () => {
  const secret = `abi_${'A'.repeat(43)}`;

  it('is read as it was written', () => {
    for (const origin of ['https://team.example.com', 'https://team.example.com:8443', 'http://127.0.0.1:7400']) {
      expect(readInviteLink(inviteLink(origin, secret))).to.deep.equal({ origin, secret });
      expect(readInviteLink(` ${inviteLink(origin, secret)}\n`)).to.deep.equal({ origin, secret });
    }
  });

  it('carries its secret in the fragment and nowhere else', () => {
    for (const text of [
      '',
      secret,
      'nonsense',
      `https://team.example.com/#${secret}`,
      `https://team.example.com/join/#${secret}`,
      `https://team.example.com/join?${secret}`,
      `https://team.example.com/join?x=1#${secret}`,
      `https://maya@team.example.com/join#${secret}`,
      `https://team.example.com/join#${secret.slice(0, 20)}`,
      `https://team.example.com/join#abh_${'A'.repeat(43)}`,
      `ftp://team.example.com/join#${secret}`,
    ]) {
      expect(readInviteLink(text), text).to.equal(null);
    }
  });
});

describe('a name made of a text', () => {
  it('has small letters, digits and single hyphens, at most 40 of them', () => {
    for (const [text, name] of [
      ['Maya Lin', 'maya-lin'],
      ['--A__b--', 'a-b'],
      ['DESKTOP-4KQ', 'desktop-4kq'],
      [`${'x'.repeat(39)}-y`, 'x'.repeat(39)],
      ['Ä Ö', ''],
      ['', ''],
    ] as const) {
      expect(slug(text), text).to.equal(name);
    }
  });
});
