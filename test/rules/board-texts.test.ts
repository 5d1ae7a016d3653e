import { expect } from 'chai';
import { parsePolicy, parseRoles } from '../../src/server/boards/boards.store.ts';
import { presets } from '../../src/server/boards/policy.rules.ts';

describe('the roles and policies of boards', () => {
  const roles = (charter: string): string => JSON.stringify({ member: { can: ['post'], charter } });

  it('are parsed once for all boards that share them', () => {
    expect(parseRoles({ roles: roles('Post.') })).to.equal(parseRoles({ roles: roles('Post.') }));
    const policy = JSON.stringify(presets.starter);
    expect(parsePolicy({ policy })).to.equal(parsePolicy({ policy }));
  });

  it('are not kept where they are long: an owner who goes on changing them does not fill the memory', () => {
    const long = roles('x'.repeat(20_000));
    expect(parseRoles({ roles: long })).not.to.equal(parseRoles({ roles: long }));
  });
});
