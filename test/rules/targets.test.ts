import { expect } from 'chai';
import { Refusal } from '../../src/contract/errors.ts';
import { parseTarget, parseTargets } from '../../src/server/messages/targets.rules.ts';

function refusalOf(list: string[]): Refusal {
  try {
    parseTargets(list);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('Nothing was refused.');
}

describe('targets of a message', () => {
  it('have four forms', () => {
    expect(parseTarget('all')).to.deep.equal({ kind: 'all' });
    expect(parseTarget('@writer-2')).to.deep.equal({ kind: 'name', name: 'writer-2' });
    expect(parseTarget('role:reviewer')).to.deep.equal({ kind: 'role', role: 'reviewer' });
    expect(parseTarget('owner:dana-x')).to.deep.equal({ kind: 'owner', handle: 'dana-x' });
  });

  it('may be as long as the names they hold', () => {
    expect(parseTarget(`@${'a'.repeat(40)}`)).to.not.equal(null);
    expect(parseTarget(`role:${'a'.repeat(32)}`)).to.not.equal(null);
    expect(parseTarget(`owner:${'a'.repeat(40)}`)).to.not.equal(null);
    expect(parseTarget(`@${'a'.repeat(41)}`)).to.equal(null);
    expect(parseTarget(`role:${'a'.repeat(33)}`)).to.equal(null);
    expect(parseTarget(`owner:${'a'.repeat(41)}`)).to.equal(null);
  });

  const malformed = [
    ...['', 'mine', 'All', 'ALL', '@', '@X', '@-a', '@a\n', ' @a', '@a b', 'a', 'role:', 'role:7', 'role:R', 'Role:a'],
    ...['owner:', 'owner:-a', 'owner:a-', 'owner:a--b', 'owner:@a', '@role:a', '@é', 'all '],
  ];
  for (const target of malformed) {
    it(`are refused when written as ${JSON.stringify(target)}`, () => {
      expect(parseTarget(target)).to.equal(null);
      const refusal = refusalOf(['@a', target]);
      expect([refusal.code, refusal.status, refusal.details]).to.deep.equal(['invalid_target', 422, { target }]);
    });
  }

  it('keep their order and lose repetitions', () => {
    expect(parseTargets(['@b', 'role:r', '@a', '@b', 'role:r']).map(({ text }) => text)).to.deep.equal([
      '@b',
      'role:r',
      '@a',
    ]);
    expect(parseTargets(['all', 'all'])).to.deep.equal([{ text: 'all', target: { kind: 'all' } }]);
  });

  it('have nothing beside all', () => {
    expect(refusalOf(['@x', 'all']).details).to.deep.equal({ target: 'all' });
    expect(refusalOf(['all', 'role:r']).code).to.equal('invalid_target');
  });

  it('are quoted in an error at most 60 characters long and without a secret', () => {
    expect(refusalOf(['👀'.repeat(100)]).details).to.deep.equal({ target: '👀'.repeat(60) });
    const token = `ghp_${'a1'.repeat(18)}`;
    expect(refusalOf([`to ${token}`]).details).to.deep.equal({ target: 'to [redacted:github_token]' });
    expect(JSON.stringify(refusalOf([`${'x'.repeat(50)} ${token}`]).body())).to.not.include('a1a1');
  });
});
