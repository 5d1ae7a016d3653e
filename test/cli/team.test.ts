/** A team's server as docs/deploy.md sets it up: the built program on Postgres, behind a proxy that ends TLS. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../support/free-port.ts';
import { newPostgresDatabase } from '../support/postgres.ts';
import { certificate, startTlsProxy, type TlsProxy } from '../support/tls-proxy.ts';
import { collect, finished, Home, root, until } from './support/home.ts';

type Kind = 'http' | 'v1' | 'v2';

class Team {
  readonly vps = new Home();
  readonly data = mkdtempSync(join(tmpdir(), 'board-team-'));
  readonly kind: Kind;
  port = 0;
  db = '';
  proxy!: TlsProxy;
  child!: ChildProcess;
  printed!: () => { stdout: string; stderr: string };

  constructor(kind: Kind) {
    this.kind = kind;
  }

  async start(): Promise<void> {
    this.port ||= await freePort();
    this.db ||= await newPostgresDatabase();
    this.proxy ??= await startTlsProxy(this.kind, () => this.port);
    const told = this.kind === 'http' ? [] : ['--proxy-protocol'];
    const listen = `127.0.0.1:${this.port}`;
    const args = ['--public-url', this.proxy.url, '--data', this.data, '--listen', listen, '--admin', 'ana'];
    this.child = this.vps.start(['serve', '--team', ...args, ...told], { env: { SERVICE_DB: this.db } });
    this.printed = collect(this.child);
    const listens = () => this.printed().stderr.includes('"listening"');
    await until('the server listens', () => listens() || this.child.exitCode !== null);
    expect(listens(), this.printed().stderr).to.equal(true);
  }

  /** What it logged, as objects. */
  log(): { level: string; msg: string; [field: string]: unknown }[] {
    return this.printed()
      .stderr.split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
  }

  async stop(): Promise<number | null> {
    this.child.kill('SIGTERM');
    return (await finished(this.child)).code;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.proxy.close();
    await this.vps.close();
    rmSync(this.data, { recursive: true, force: true });
  }
}

for (const kind of ['http', 'v1', 'v2'] as const) {
  describe(`a team’s server behind a proxy (${kind})`, () => {
    const team = new Team(kind);
    const laptop = new Home();
    before(async () => {
      laptop.env = { ...laptop.env, NODE_EXTRA_CA_CERTS: certificate, SERVICE_KEYSTORE: 'file' };
      await team.start();
    });
    after(async () => {
      await laptop.close();
      await team.close();
    });

    it('tells of its first admin by the file of the key, and hands the key over', async () => {
      const file = join(team.data, 'admin-key');
      const created = team.log().find(({ msg }) => msg === 'first admin created');
      expect(created).to.include({ level: 'info', handle: 'ana', key_file: file });
      expect(team.printed().stderr).not.to.include(readFileSync(file, 'utf8').trim());
      const { stdout, stderr, code } = await laptop.shell(`service login ${team.proxy.url} < ${file}`);
      expect(code, stderr).to.equal(0);
      expect(stdout).to.include('as ana (admin)');
    });

    it('is worked with through the proxy: boards, posts, a stream and a wait', async () => {
      const info = await laptop.json(['server', 'info', team.proxy.url]);
      expect(info.info).to.include({ mode: 'team' });
      await laptop.json(['board', 'create', 'payments']);
      await laptop.json(['agent', 'create', 'bot', '--board', 'payments']);
      const stream = laptop.start(['board', 'read', '--follow', '--json', '-b', 'payments']);
      const followed = collect(stream);
      await laptop.json(['say', '-b', 'payments', 'Hello from my laptop']);
      await until('the stream brings the post', () => followed().stdout.includes('Hello from my laptop'));
      stream.kill('SIGINT');
      await finished(stream);
    });

    it(
      kind === 'http'
        ? 'limits no address, because there is only the proxy’s'
        : 'limits the address the proxy tells of',
      async () => {
        const script = `
        const all = [];
        for (let n = 0; n < 21; n++) {
          const answer = await fetch(process.env.URL + '/v1/machine-requests', {
            method: 'POST',
            headers: { 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.' + n },
            body: JSON.stringify({ handle: 'nobody', label: 'box' }),
          });
          all.push(answer.status);
        }
        console.log(JSON.stringify(all));
      `;
        const { stdout, stderr } = await laptop.shell(`node --input-type=module -e "$SCRIPT"`, {
          env: { SCRIPT: script, URL: team.proxy.url },
        });
        const all: number[] = JSON.parse(stdout || stderr);
        // Ten are allowed each minute of the clock, and these may fall into two.
        expect(all.slice(0, 10)).to.deep.equal(Array(10).fill(201));
        expect([...new Set(all)]).to.deep.equal(kind === 'http' ? [201] : [201, 429]);
      },
    );

    it('answers its public name only', async () => {
      const direct = await fetch(`http://127.0.0.1:${team.port}/v1/info`).then(
        ({ status }) => status,
        () => 'closed',
      );
      expect(direct).to.equal(kind === 'http' ? 421 : 'closed');
    });
  });
}

describe('a team’s server and its operator', () => {
  const team = new Team('http');
  before(() => team.start());
  after(() => team.close());

  it('stops in order, and reminds of the key at the next start', async () => {
    expect(await team.stop()).to.equal(0);
    await team.start();
    expect(team.log().some(({ level, msg }) => level === 'warn' && msg.includes('still here'))).to.equal(true);
  });

  it('gets a key for an admin while it is stopped, written to a file and not shown', async () => {
    const recover = (handle: string, ...more: string[]) =>
      team.vps.run(['server', 'recover-key', handle, '--data', team.data, '--json', ...more], {
        env: { SERVICE_DB: team.db },
      });
    const running = await recover('ana');
    expect([running.code, JSON.parse(running.stdout).error.code]).to.deep.equal([1, 'already_running']);
    await team.stop();
    for (const [handle, code, error] of [
      ['nobody', 6, 'person_not_found'],
      ['ana', 5, 'human_command_in_session'],
    ] as const) {
      const refused = await recover(handle, ...(handle === 'ana' ? ['--as', 'bot'] : []));
      expect([refused.code, JSON.parse(refused.stdout).error.code]).to.deep.equal([code, error]);
    }
    const file = join(team.data, 'recovery-key');
    const { code, stdout, stderr } = await recover('@Ana');
    expect([code, JSON.parse(stdout)]).to.deep.equal([0, { handle: 'ana', key_file: file }]);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(stdout + stderr).not.to.include(readFileSync(file, 'utf8').trim());
    await team.start();
    const me = await fetch(`http://127.0.0.1:${team.port}/v1/info`);
    expect(me.status).to.equal(421);
  });

  it('moves to another address, to which a laptop follows as docs/deploy.md says', async () => {
    const laptop = new Home();
    laptop.env = { ...laptop.env, NODE_EXTRA_CA_CERTS: certificate, SERVICE_KEYSTORE: 'file' };
    const former = team.proxy;
    try {
      await laptop.shell(`service login ${former.url} < ${join(team.data, 'admin-key')}`);
      await laptop.json(['board', 'create', 'moving', '--no-link']);
      await laptop.json(['agent', 'create', 'bot', '--board', 'moving']);
      await team.stop();
      team.proxy = await startTlsProxy('http', () => team.port);
      await team.start();
      const refused = await laptop.run(['say', '--board', 'moving', 'Hello', '--json']);
      expect(JSON.parse(refused.stdout).error.code).to.equal('host_not_allowed');
      const page = readFileSync(join(root, 'docs', 'deploy.md'), 'utf8');
      const script = /## A new address[\s\S]*?```sh\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
      const followed = await laptop.shell(
        script
          .replaceAll('https://team.example.com', former.url)
          .replaceAll('https://board.example.com', team.proxy.url)
          .replaceAll('~/.config/service', laptop.path('config')),
      );
      expect(followed.code, followed.stderr).to.equal(0);
      for (const actor of [[], ['--as', 'bot']]) await laptop.json(['say', '--board', 'moving', 'Hello', ...actor]);
    } finally {
      await former.close();
      await laptop.close();
    }
  });
});

describe('serve --team', () => {
  const home = new Home();
  after(() => home.close());

  const refused = async (args: string[], env: Record<string, string> = {}) => {
    const { code, stdout } = await home.run(['serve', ...args, '--json'], { env });
    return { exit: code, ...JSON.parse(stdout).error };
  };

  it('does not start where a setting is missing, and names everything that is missing at once', async () => {
    const error = await refused(['--team']);
    expect(error).to.include({ exit: 2, code: 'invalid_request' });
    expect(error.details.missing).to.deep.equal(['--public-url', '--data']);
    expect(error.message).to.equal('The server is not started: --public-url, --data are missing.');
    expect((await refused(['--team', '--data', '/x'])).details.missing).to.deep.equal(['--public-url']);
    expect((await refused(['--team'], { SERVICE_PUBLIC_URL: 'https://x.example' })).details.missing).to.deep.equal([
      '--data',
    ]);
  });

  it('names everything that is wrong at once, and where it was said', async () => {
    const env = { SERVICE_PUBLIC_URL: 'http://team.example.com', SERVICE_LISTEN: 'here', SERVICE_RATE_FACTOR: '-1' };
    const { exit, message, details } = await refused(['--team', '--data', 'relative', '--admin', 'Ana!'], env);
    expect(exit).to.equal(2);
    expect(message).to.equal(
      'The server is not started: SERVICE_PUBLIC_URL, --data, SERVICE_LISTEN, --admin, SERVICE_RATE_FACTOR are wrong.',
    );
    expect(details.lines.map((line: string) => line.split(' ')[0])).to.deep.equal([
      'SERVICE_PUBLIC_URL',
      '--data',
      'SERVICE_LISTEN',
      '--admin',
      'SERVICE_RATE_FACTOR',
    ]);
  });

  it('names what is wrong with its database, files and workers beside all else, and makes nothing', async () => {
    const firstWords = ({ details }: { details: { lines: string[] } }) =>
      details.lines.map((line) => line.split(/[ :]/)[0]);
    const env = {
      SERVICE_DB: 'mysql://u:secret@x/y',
      SERVICE_FILES: 'ftp://x',
      SERVICE_FILES_QUOTA_BYTES: 'much',
      SERVICE_DB_POOL: '1',
      SERVICE_WORKERS: 'x',
    };
    const all = await refused(['--team'], env);
    expect(all).to.include({ exit: 2, code: 'invalid_request' });
    expect(firstWords(all)).to.have.members(['--public-url', '--data', ...Object.keys(env)]);
    expect(JSON.stringify(all)).not.to.include('secret');
    const data = join(home.dir, 'unmade');
    for (const [name, value] of [
      ['SERVICE_DB', 'sqlite://rel.db'],
      ['SERVICE_FILES', 'disk:rel'],
      ['SERVICE_FILES', 'db:'],
    ] as const) {
      const team = ['--team', '--public-url', 'https://x.example', '--data', data];
      for (const args of [team, ['--data', data]]) {
        const error = await refused(args, { [name]: value });
        expect(error, value).to.include({ exit: 2, code: 'storage_unsupported' });
        expect(firstWords(error), value).to.deep.equal([name]);
        expect(existsSync(data), value).to.equal(false);
      }
    }
  });

  it('names a wrong --db and workers that share nothing in the same way, and the missing flags only if any are', async () => {
    const env = { SERVICE_FILES: 'ftp://x', SERVICE_WORKERS: '2' };
    for (const db of ['mysql://u:secret@h/d', 'postgres://u:secret@h/d']) {
      const all = await refused(['--team', '--db', db], env);
      expect(all, db).to.include({ exit: 2, code: 'invalid_request' });
      expect(all.message, db).to.match(
        /: --public-url, --data are missing; --db, SERVICE_FILES, SERVICE_WORKERS are wrong\.$/,
      );
      for (const said of ['--public-url', '--data', '--db', 'SERVICE_FILES', 'SERVICE_WORKERS'])
        expect(all.details.lines.join('\n'), db).to.match(new RegExp(`^[^:]*${said}`, 'm'));
      expect(JSON.stringify(all.details), db).not.to.include('secret');
      expect(all.hint, db).to.include('--public-url');
    }
    const team = ['--team', '--public-url', 'https://x.example', '--data', join(home.dir, 'unmade')];
    const error = await refused([...team, '--workers', '2']);
    expect(error).to.include({ exit: 2, code: 'storage_unsupported' });
    expect(error.details.lines).to.have.length(1);
    expect(error.message).to.equal('The server is not started: --workers is wrong.');
    expect(error.details.lines[0]).to.include('--workers: Several workers need a Postgres');
    expect(error.hint).not.to.include('--public-url');
  });

  it('says its password in no refusal, of the tools for its data neither', async () => {
    const data = join(home.dir, 'unmade');
    for (const [db, ...command] of [
      ['mysql://u:secret@h/d', 'storage', 'check'],
      ['u:secret@h/d', 'server', 'recover-key', 'ana'],
      ['postgres://u:12/secret@h/d', 'storage', 'migrate'],
      ['postgres://u:12/secret@h/d', 'serve'],
      ['postgres://h/d?user=u&password=secret', 'storage', 'copy', '--from', 'db:', '--to', 'db:'],
      ['postgres://h/d?user=u&password=secret', 'serve'],
    ] as const) {
      const { code, stdout, stderr } = await home.run([...command, '--data', data, '--db', db, '--json']);
      const { error } = JSON.parse(stdout);
      expect({ code, said: error.code }, `${command} ${db}`).to.deep.equal({ code: 2, said: 'storage_unsupported' });
      expect(JSON.stringify(error), `${command} ${db}`).to.include('--db').and.not.include('secret');
      expect(stderr).not.to.include('secret');
    }
  });

  it('takes a public URL that is an origin and nothing more', async () => {
    const bad = [
      'https://x.example/',
      'https://u@x.example',
      'https://x.example?a',
      'https://x.example:0',
      'https://x.example:99999',
      'https://',
      'x.example',
      // `service` calls these 127.0.0.1, which is another host.
      'https://LocalHost:7532',
      'https://[::1]',
    ];
    for (const url of bad) {
      const { details } = await refused(['--team', '--data', '/x', '--public-url', url]);
      expect(details?.lines, url).to.have.length(1);
      expect(details.lines[0], url).to.include('127.0.0.1 instead of localhost');
    }
  });

  it('is asked for with its flags only', async () => {
    for (const flag of [['--public-url', 'https://x.example'], ['--admin', 'ana'], ['--proxy-protocol']])
      expect((await refused(flag)).exit, flag[0]).to.equal(2);
    const shown = await refused(['--db', 'postgres://u:secret@h/d']);
    expect(shown).to.include({ exit: 2, code: 'storage_unsupported' });
  });
});
