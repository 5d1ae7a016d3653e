/**
 * No secret of the command line is where others on the machine could see it: in the arguments of a process, in the server's
 * log, or anywhere in the home but in the files that keep it for their owner.
 */
import { appendFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { finished, Home } from './support/home.ts';

const SECRET = /ab[habcdil]_[A-Za-z0-9_-]{43}|\b[0-9A-HJKMNP-TV-Z]{3}-[0-9A-HJKMNP-TV-Z]{3}\b/g;

describe('the secrets of the command line', () => {
  const home = new Home({ bare: true });
  after(() => home.close());

  it('are in no arguments of a process, no log, and no file but those that keep them for their owner', async () => {
    const processes = join(home.dir, 'processes');
    appendFileSync(processes, '');
    // Every process of ours writes down what everybody on the machine can see of it.
    const note = `require("node:fs").appendFileSync(${JSON.stringify(processes)},JSON.stringify(process.argv)+"\\n")`;
    const preload = join(home.dir, 'note.cjs');
    appendFileSync(preload, note);
    const env = { NODE_OPTIONS: `--require ${preload}`, SERVICE_KEYSTORE: 'file' };
    const printed: string[] = [];
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await home.run(args, { env });
      expect(code, `${args.join(' ')}: ${stderr}`).to.equal(0);
      printed.push(stdout, stderr);
      return stdout;
    };
    await run('board', 'create', 'demo');
    await run('key', 'create', 'spare', '--json');
    await run('code', 'create', '--board', 'demo', '--json');
    await run('invite', 'create', '--json');
    await run('open', '--print', '--json');
    const key = /abh_[\w-]{43}/.exec(printed.join(''))?.[0] ?? '';
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed.join(''))?.[0] ?? '';
    const login = home.start(['login', url], { env, stdin: 'pipe' });
    const end = finished(login);
    login.stdin?.end(`${key}\n`);
    printed.push(JSON.stringify(await end));

    const secrets = new Set(printed.join('\n').match(SECRET));
    expect([...secrets].map((secret) => secret.slice(0, 4))).to.include.members(['abh_', 'abi_', 'abl_']);
    const argumentsOfAll = readFileSync(processes, 'utf8');
    expect(argumentsOfAll.split('\n').length).to.be.greaterThan(6);
    for (const secret of secrets) expect(argumentsOfAll).not.to.include(secret);

    const found: string[] = [];
    for (const entry of readdirSync(home.store, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = join(entry.parentPath, entry.name);
      const bytes = readFileSync(file);
      const holds = [...secrets].filter((secret) => bytes.includes(secret));
      if (holds.length === 0) continue;
      found.push(entry.name);
      expect(statSync(file).mode & 0o077, `${entry.name} is open to others`).to.equal(0);
    }
    expect(found.filter((name) => !/^(local-key|credentials\.json)$/.test(name))).to.deep.equal([]);
  });
});
