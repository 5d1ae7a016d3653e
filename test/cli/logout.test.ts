/** Signing out of servers: what is revoked there, what is forgotten here, and what goes on. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { freePort } from '../support/free-port.ts';
import { Home } from './support/home.ts';
import { LossyNetwork } from './support/lossy.ts';
import { homeWithBoard } from './support/shared.ts';
import { typed } from './support/terminal.ts';

describe('service logout', () => {
  const home = homeWithBoard();
  let url: string;
  let other: Home;
  let keys = 0;
  before(async () => {
    ({ url } = (await home().json(['whoami'])).server);
  });
  beforeEach(() => {
    other = new Home();
  });
  afterEach(() => other.close());

  const send = async (method: string, path: string, token: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, origin: url, 'content-type': 'application/json' };
    return fetch(url + path, { method, headers, body: body ? JSON.stringify(body) : undefined });
  };
  const localKey = () => readFileSync(home().path('data', 'local-key'), 'utf8').trim();
  /** Another key of the person, with which the other machine is signed in. */
  const signedIn = async (): Promise<{ token: string; name: string }> => {
    const name = `laptop-${++keys}`;
    const made = await send('POST', '/v1/keys', localKey(), { name });
    const { token } = (await made.json()) as { token: string };
    const { code, stderr } = await other.shell(`printf '%s' "$KEY" | service login ${url}`, { env: { KEY: token } });
    expect(code, stderr).to.equal(0);
    return { token, name };
  };
  const works = async (token: string) => (await send('GET', '/v1/me', token)).status === 200;
  const savedKey = async () => (await other.json(['servers', 'list'])).servers[0]?.key ?? null;

  it('says what stops and asks first; then the key is revoked and forgotten', async () => {
    const { token, name } = await signedIn();
    await other.json(['agent', 'create', name, '--board', 'demo']);
    const session = await fetch(`${url}/v1/browser-sessions`, {
      method: 'POST',
      headers: { origin: url, 'content-type': 'application/json' },
      body: JSON.stringify({ key: token }),
    });
    expect(session.status).to.equal(201);
    const asked = await other.run(['logout', '--json']);
    const { error } = JSON.parse(asked.stdout);
    expect([asked.code, error.code]).to.deep.equal([2, 'confirmation_required']);
    expect(error.message).to.equal(`Revoke key "${name}" on ${url}? That stops 1 browser session and 1 agent.`);
    expect([await works(token), await savedKey()]).to.deep.equal([true, 'file']);

    const done = await other.run(['logout', '--yes']);
    expect(done.stdout).to.equal(
      `Signed out of ${url}: key "${name}" revoked, 1 browser session and 1 agent stopped.\n`,
    );
    expect([await works(token), await savedKey()]).to.deep.equal([false, null]);
    const after = await other.run(['whoami', '--json']);
    expect([after.code, JSON.parse(after.stdout).error.code]).to.deep.equal([4, 'login_required']);
    // The token of the agent ended with the key, and what is left of it explains that.
    expect(readFileSync(other.path('config', 'credentials.json'), 'utf8')).to.not.include('aba_');
    expect((await other.json(['servers', 'list'])).servers[0].seats).to.equal(0);
    const acting = await other.run(['inbox', '--as', name, '--json']);
    expect([acting.code, JSON.parse(acting.stdout).error]).to.deep.equal([
      4,
      {
        code: 'unauthorized',
        message: `${name} on demo is not let in any more: its key has ended, or its seat was taken elsewhere.`,
        hint: `service login ${url}; then give it a new seat: service agent create NAME --board demo --server ${url}`,
      },
    ]);
    await signedIn();
    expect((await other.json(['agent', 'create', 'next', '--board', 'demo'])).agent.name).to.equal('next');
    await other.json(['key', 'revoke', `laptop-${keys}`, '--yes']);
    expect(readFileSync(other.path('config', 'credentials.json'), 'utf8')).to.not.include('aba_');
  });

  it('prints one record, and takes the server by its address', async () => {
    const { token } = await signedIn();
    const record = await other.json(['logout', url, '--yes']);
    expect(record).to.deep.include({ revoked: true, ended_sessions: 0, agents_ended: 0, forgotten: true });
    expect(record.server.url).to.equal(url);
    expect(await works(token)).to.equal(false);
  });

  it('forgets only, with --keep-key, without asking the server', async () => {
    const { token } = await signedIn();
    const forgot = await other.run(['logout', '--keep-key']);
    expect(forgot.stdout).to.equal(`Forgot the key for ${url}; it still works there.\n`);
    expect([await works(token), await savedKey()]).to.deep.equal([true, null]);
    const again = await other.json(['logout', '--keep-key']);
    expect(again).to.include({ revoked: false, forgotten: false });
  });

  it('signs out browsers only, with --browsers', async () => {
    const { token } = await signedIn();
    const headers = { origin: url, 'content-type': 'application/json' };
    const body = JSON.stringify({ key: token });
    await fetch(`${url}/v1/browser-sessions`, { method: 'POST', headers, body });
    const record = await other.json(['logout', '--browsers']);
    expect(record).to.include({ revoked: false, agents_ended: 0, forgotten: false });
    expect(record.ended_sessions).to.be.greaterThan(0);
    expect((await other.json(['key', 'sessions'])).sessions).to.deep.equal([]);
    expect(await works(token)).to.equal(true);
    expect((await other.run(['logout', '--browsers'])).stdout).to.equal(`Ended 0 browser sessions on ${url}.\n`);
    expect((await other.run(['logout', '--browsers', '--keep-key'])).code).to.equal(2);
  });

  it('forgets a key that had ended already', async () => {
    const { token } = await signedIn();
    const { current_key_id } = (await (await send('GET', '/v1/keys', token)).json()) as { current_key_id: string };
    await send('DELETE', `/v1/keys/${current_key_id}`, localKey());
    const record = await other.json(['logout']);
    expect(record).to.include({ revoked: false, forgotten: true });
    expect(await savedKey()).to.equal(null);
  });

  it('forgets nothing of a server that does not answer, and says that the key still works', async () => {
    await signedIn();
    const path = other.path('config', 'credentials.json');
    const port = await freePort();
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(url, `http://127.0.0.1:${port}`), { mode: 0o600 });
    const gone = `http://127.0.0.1:${port}`;
    const failed = await other.run(['logout', gone, '--yes', '--json', '--timeout', '3']);
    const { error } = JSON.parse(failed.stdout);
    expect([failed.code, error.code]).to.deep.equal([8, 'server_unreachable']);
    expect(error.message).to.include('still works');
    expect(error.hint).to.include(`service logout ${gone} --keep-key`);
    expect(await savedKey()).to.equal('file');

    const all = await other.run(['logout', '--all', '--yes', '--json', '--timeout', '3']);
    const record = JSON.parse(all.stdout);
    expect(all.code).to.equal(8);
    expect(record).to.include({ revoked: false, forgotten: false });
    expect(record.servers[0].error.code).to.equal('server_unreachable');
    expect((await other.json(['logout', '--all', '--keep-key'])).servers[0]).to.include({ forgotten: true });
    expect(await other.json(['logout', '--all'])).to.deep.include({ servers: [] });
    expect((await other.run(['logout', gone, '--all'])).code).to.equal(2);
  });

  it('says that the key may be revoked where no answer to that came, and that it is where a repeat is refused', async () => {
    const network = await LossyNetwork.to(url);
    try {
      const near = url;
      url = network.url;
      const { token, name } = await signedIn().finally(() => {
        url = near;
      });
      network.decide = ({ method }) => (method === 'DELETE' ? 'cut' : 'pass');
      const failed = await other.run(['logout', '--yes', '--json', '--timeout', '3']);
      const { error } = JSON.parse(failed.stdout);
      expect(failed.code).to.equal(8);
      expect(error.message).to.match(/ The key may have been revoked\.$/);
      expect(error.hint).to.equal(`Run it again, which finds out: service logout ${network.url}`);
      let lost = 0;
      network.decide = ({ method }) => (method === 'DELETE' && lost++ === 0 ? 'lose' : 'pass');
      const record = await other.json(['key', 'revoke', name, '--yes']);
      expect([record.key.state, record.this_machine, lost]).to.deep.equal(['revoked', true, 2]);
      expect([await works(token), await savedKey()]).to.deep.equal([false, null]);
    } finally {
      network.close();
    }
  });

  it('leaves every server but this machine’s own, with --all', async () => {
    const { token } = await signedIn();
    const record = await other.json(['logout', '--all', '--yes']);
    expect(record).to.include({ revoked: true, forgotten: true });
    expect(record.servers).to.have.length(1);
    expect(await works(token)).to.equal(false);
    expect(await home().json(['logout', '--all', '--yes'])).to.deep.include({ servers: [] });
    expect(await works(localKey())).to.equal(true);
  });

  it('tells what was done before a question that was answered with no, with --all', async () => {
    const network = await LossyNetwork.to(url);
    try {
      const near = url;
      const first = await signedIn();
      url = network.url;
      const second = await signedIn().finally(() => {
        url = near;
      });
      const said = await typed(other, 'service logout --all', [
        ['(y/N)', 'y'],
        ['(y/N)', 'n'],
      ]);
      expect([await works(first.token), await works(second.token)]).to.deep.equal([false, true]);
      expect(said).to.match(/\r\nNothing more changed\.\r\nSigned out of \S+: key "[\w-]+" revoked, .*stopped\.\r\n$/);
      const none = await typed(other, 'service logout --all', [['(y/N)', 'n']]);
      expect(none).to.match(/\r\nNothing changed\.\r\n$/);
      expect(await works(second.token)).to.equal(true);
    } finally {
      network.close();
    }
  });

  it('does not take a key of the environment for the saved one', async () => {
    const { token } = await signedIn();
    const made = await send('POST', '/v1/keys', localKey(), { name: `env-${keys}` });
    const second = ((await made.json()) as { token: string }).token;
    const env = { SERVICE_TOKEN: second, SERVICE_SERVER: url };
    expect(await other.json(['logout', '--yes'], { env })).to.include({ revoked: true, forgotten: false });
    expect([await works(second), await works(token), await savedKey()]).to.deep.equal([false, true, 'file']);
  });

  it('is for people', async () => {
    await signedIn();
    for (const env of [{ SERVICE_SESSION: 'claude-code:x' }, { SERVICE_AGENT: 'codex' }]) {
      const refused = await other.run(['logout', '--keep-key', '--yes', '--json'], { env: env as never });
      const { error } = JSON.parse(refused.stdout);
      expect([refused.code, error.code]).to.deep.equal([5, 'human_command_in_session']);
      expect(error.hint).to.equal('Ask your person to run: service logout --keep-key --json');
    }
    expect(await savedKey()).to.equal('file');
  });

  it('is what revokes the keys that uninstall --data deletes here, as that says', async () => {
    const { token } = await signedIn();
    const asked = await other.run(['uninstall', '--data', '--json']);
    expect(JSON.parse(asked.stdout).error.message).to.include(
      `\nKeys that go on working: ${url}; to revoke them first: service logout --all\n`,
    );
    const { stdout } = await other.run(['uninstall', '--data', '--yes']);
    expect(stdout).to.include(`\nKeys that go on working: ${url}\n`);
    expect(await works(token)).to.equal(true);
    expect((await other.run(['uninstall', '--data', '--yes'])).stdout).to.not.include('Keys');
  });

  it('from this machine’s own server revokes its key until the next start makes another', async () => {
    const own = new Home();
    try {
      await own.json(['board', 'create', 'mine']);
      expect((await own.run(['logout', '--keep-key'])).code).to.equal(2);
      const done = await own.run(['logout', '--yes']);
      expect(done.stdout).to.match(
        /^Signed out of \S+: key "\S+" revoked, 0 browser sessions and 0 agents stopped\.\n$/,
      );
      expect(done.stderr).to.include('service server restart');
      expect((await own.run(['whoami'])).code).to.equal(4);
      expect((await own.run(['server', 'restart'])).code).to.equal(0);
      expect((await own.run(['whoami'])).code).to.equal(0);
    } finally {
      await own.close();
    }
  });
});
