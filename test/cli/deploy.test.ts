/** What docs/deploy.md tells an operator to write is what the program takes. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readCatalog } from '../../src/cli/help/catalog.ts';
import { variables } from '../../tools/man-tables.ts';
import { newPostgresDatabase } from '../support/postgres.ts';
import { collect, finished, freePort, Home, root, until } from './support/home.ts';

const page = readFileSync(join(root, 'docs', 'deploy.md'), 'utf8');
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map((match) => match[1] ?? '');
const program = '/opt/board-service/bin/run.js';

/** The words after the program in each line that runs it. */
const calls = (): string[][] =>
  [...page.matchAll(new RegExp(`(?:${program}|\\| service) ([^|\\n']+)`, 'g'))].map((match) =>
    (match[1] ?? '').trim().split(/\s+/),
  );

describe('docs/deploy.md', function () {
  this.timeout(60_000);
  const home = new Home();
  after(() => home.close());

  it('names commands, flags and variables that there are', () => {
    const { commands } = readCatalog(root);
    expect(calls().length).to.be.at.least(4);
    for (const words of calls()) {
      const id = Object.keys(commands).find((known) => `${words.join(':')}:`.startsWith(`${known}:`));
      expect(id, words.join(' ')).to.be.a('string');
    }
    const known = variables.flatMap(([names]) => names.split(', '));
    const named = [...page.matchAll(/\b(SERVICE_[A-Z_]+)\b/g)].map((match) => match[1]!);
    expect(named.filter((name) => !known.includes(name))).to.deep.equal([]);
    const flags = Object.keys(commands['serve']?.flags ?? {});
    const table = [...page.matchAll(/\| `--([a-z-]+)` \|/g)].map((match) => match[1]!);
    expect(table).to.have.length.at.least(6);
    expect(table.filter((name) => !flags.includes(name))).to.deep.equal([]);
  });

  it('has settings and a unit that start a team’s server on Postgres, and stop it', async () => {
    const [settings, unit] = blocks('ini');
    const dir = mkdtempSync(join(tmpdir(), 'board-deploy-'));
    const port = await freePort();
    const file = join(dir, 'service.env');
    const told = settings!
      .replace('/var/lib/service', join(dir, 'data'))
      .replace('127.0.0.1:7400', `127.0.0.1:${port}`)
      .replace(/SERVICE_DB=.*/, `SERVICE_DB=${await newPostgresDatabase()}`);
    expect(told).not.to.equal(settings);
    writeFileSync(file, told, { mode: 0o600 });
    const started = /^ExecStart=\/usr\/bin\/node \S+ (.*)$/m.exec(unit!)?.[1];
    const child = home.startShell(`set -a; . ${file}; exec service ${started}`, { env: { HOME: '/nonexistent' } });
    const printed = collect(child);
    await until('it listens', () => printed().stderr.includes('"listening"'));
    const status = await new Promise((resolve, reject) => {
      const asked = { port, host: '127.0.0.1', path: '/v1/info', headers: { host: 'team.example.com' } };
      request(asked, (answer) => resolve(answer.resume().statusCode))
        .on('error', reject)
        .end();
    });
    expect(status).to.equal(200);
    expect(readFileSync(join(dir, 'data', 'admin-key'), 'utf8')).to.match(/^abh_/);
    child.kill('SIGTERM');
    expect((await finished(child)).code).to.equal(0);

    const recovery = /run\.js (server recover-key [^']+)'/.exec(page)?.[1];
    const recovered = await home.shell(`set -a; . ${file}; service ${recovery}`, { env: { HOME: '/nonexistent' } });
    expect(recovered.code, recovered.stderr).to.equal(0);
    expect(readFileSync(join(dir, 'data', 'recovery-key'), 'utf8')).to.match(/^abh_/);
    rmSync(dir, { recursive: true });
  });
});
