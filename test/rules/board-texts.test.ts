import { expect } from 'chai';
import { presets } from '../../src/contract/policy.ts';
import { parsePolicy, parseRoles } from '../../src/server/boards/boards.store.ts';

describe('the roles and policies of boards', () => {
  const roles = (charter: string): string => JSON.stringify({ member: { can: ['post'], charter } });

  it('are parsed once for all boards that share them', () => {
    expect(parseRoles({ roles: roles('Post.') })).to.equal(parseRoles({ roles: roles('Post.') }));
    const policy = JSON.stringify(presets.starter);
    expect(parsePolicy({ policy })).to.equal(parsePolicy({ policy }));
  });

  it('are parsed once also where they are long: a page of questions asks for them at each', () => {
    const long = roles('x'.repeat(300_000));
    expect(parseRoles({ roles: long })).to.equal(parseRoles({ roles: long }));
  });

  it('are not all kept where they are long: an owner who goes on changing them does not fill the memory', () => {
    const first = parseRoles({ roles: roles('first') });
    for (let n = 0; n < 20; n++) parseRoles({ roles: roles(`${n} ${'x'.repeat(300_000)}`) });
    expect(parseRoles({ roles: roles('first') })).not.to.equal(first);
  });
});
