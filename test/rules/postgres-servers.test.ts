import { expect } from 'chai';
import { serversOf } from '../../src/server/db/postgres-hosts.ts';
import { withoutPassword } from '../../src/server/upkeep/storage.ts';

describe('a URL of Postgres', () => {
  it('names each of its servers with what they have in common', () => {
    expect(
      serversOf('postgres://ana:pw@a:5432,b:5433,[::1]:5434/name?target_session_attrs=read-write&sslmode=require'),
    ).to.deep.equal([
      'postgres://ana:pw@a:5432/name?sslmode=require',
      'postgres://ana:pw@b:5433/name?sslmode=require',
      'postgres://ana:pw@[::1]:5434/name?sslmode=require',
    ]);
    expect(serversOf('postgresql://a,b/name')).to.deep.equal(['postgresql://a/name', 'postgresql://b/name']);
    expect(serversOf('postgres://ana@a/name')).to.deep.equal(['postgres://ana@a/name']);
    expect(serversOf('postgres://ana:p@w:d@a:1/name')).to.deep.equal(['postgres://ana:p@w:d@a:1/name']);
    expect(serversOf('postgres://a/name?user=ana@b')).to.deep.equal(['postgres://a/name?user=ana%40b']);
    expect(serversOf('postgres://a/name?target_session_attrs=primary')).to.deep.equal(['postgres://a/name']);
  });

  it('has a server, a port that is a number, and is not for reading only', () => {
    const wrong = [
      'postgres:///name',
      'postgres://a:x/name',
      'postgres://a,/name',
      'sqlite:///a',
      'postgres://a,b:99999999/name',
      // Passwords with what ends the part of a URL in which they stand.
      'postgres://ana:12/3@a/name',
      'postgres://ana:12?3@a/name',
      'postgres://ana:12/s3cret?x@a/name',
      'postgres://ana:12/s3cret?x=1&y@a/name',
      'postgres://ana:12/s3cret?x?y@a/name',
      'postgres://ana:12#3@a/name',
    ];
    for (const url of [...wrong, 'postgres://a,b/name?target_session_attrs=standby']) {
      expect(serversOf(url), url).to.equal(null);
    }
  });

  it('is shown without its password', () => {
    expect(withoutPassword('postgres://ana:p%40w@a:1,b:2/name?sslmode=require')).to.equal(
      'postgres://ana@a:1,b:2/name',
    );
    expect(withoutPassword('postgres://ana@a/name')).to.equal('postgres://ana@a/name');
    expect(withoutPassword('sqlite:///folder/service.db')).to.equal('sqlite:///folder/service.db');
  });
});
