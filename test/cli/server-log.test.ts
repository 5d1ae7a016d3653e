/** The log of the server that commands start in the background. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { collect, finished, Home, until } from './support/home.ts';

const LIMIT = 10 * 1024 * 1024;

describe('the log of the local server', () => {
  let home: Home;
  beforeEach(() => {
    home = new Home();
  });
  afterEach(() => home.close());

  it('is put aside at 10 MiB, in place of the one before, and goes on', async () => {
    const [log, old] = [home.path('data', 'server.log'), home.path('data', 'server.log.1')];
    mkdirSync(home.path('data'), { recursive: true, mode: 0o700 });
    writeFileSync(old, 'of long ago\n', { mode: 0o600 });
    writeFileSync(log, 'full\n'.repeat(LIMIT / 5), { mode: 0o600 });
    await home.json(['server', 'start']);
    const before = readFileSync(old, 'utf8');
    expect(before.slice(0, 5)).to.equal('full\n');
    expect(before.trimEnd().split('\n').at(-1)).to.include('"msg":"listening"');
    expect(statSync(old).mode & 0o777).to.equal(0o600);
    await home.json(['server', 'stop']);
    const after = readFileSync(log, 'utf8');
    expect(after).to.include('"msg":"stopped"').and.not.include('full');
    expect(after.length).to.be.below(2_000);
    expect((await home.run(['server', 'logs'])).stdout).to.include('shutting down');
  });

  it('is put aside by no server that writes elsewhere', async () => {
    const log = home.path('data', 'server.log');
    mkdirSync(home.path('data'), { recursive: true, mode: 0o700 });
    writeFileSync(log, 'full\n'.repeat(LIMIT / 5), { mode: 0o600 });
    const server = home.start(['serve', '--log-level', 'debug']);
    const printed = collect(server);
    await until('it listens', () => printed().stderr.includes('Listening at'));
    server.kill('SIGTERM');
    expect((await finished(server)).code).to.equal(0);
    expect(statSync(log).size).to.equal(LIMIT);
  });

  if (process.platform === 'linux') {
    it('is not put aside where the shell does not append to it, which would go on behind a hole of 10 MiB', async () => {
      const log = home.path('data', 'server.log');
      mkdirSync(home.path('data'), { recursive: true, mode: 0o700 });
      const server = home.startShell(
        `{ yes full | head -c ${LIMIT} >&2; exec service serve --log-level debug --log-format json; } 2> '${log}'`,
      );
      await until('it listens', () => existsSync(log) && readFileSync(log, 'utf8').includes('Listening at'));
      server.kill('SIGTERM');
      expect((await finished(server)).code).to.equal(0);
      const text = readFileSync(log, 'utf8');
      expect([text.slice(0, 5), text.includes('\0')]).to.deep.equal(['full\n', false]);
      expect(text).to.include('"msg":"listening"').and.to.include('"msg":"stopped"');
      expect(existsSync(`${log}.1`)).to.equal(false);
    });
  }
});
