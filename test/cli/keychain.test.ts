/** A system keychain that is locked is called so, with what to do; one that is not there, or lost the key, is not. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { noteSecrets } from '../support/secrets.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { Home } from './support/home.ts';
import { LossyNetwork } from './support/lossy.ts';

const hooks = new URL('support/keychain-hooks.mjs', import.meta.url).href;

describe('the system keychain', () => {
  let server: TestServer;
  let home: Home;
  let keychain: string;
  let network: LossyNetwork | null = null;
  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());
  beforeEach(() => {
    home = new Home();
    keychain = join(home.dir, 'keychain');
    mkdirSync(keychain);
    home.env = {
      ...home.env,
      TEST_KEYCHAIN: keychain,
      NODE_OPTIONS: `--import=${hooks}`,
      // On Linux nothing is tried without one.
      DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(home.dir, 'bus')}`,
    };
  });
  afterEach(async () => {
    network?.close();
    network = null;
    await home.close();
  });

  const is = (state: string) => writeFileSync(join(keychain, 'state'), state);
  const file = () => home.path('config', 'credentials.json');

  async function login(...flags: string[]) {
    const token = server.dana.token ?? '';
    noteSecrets(token);
    return home.shell(`echo "$KEY" | service login ${server.url} ${flags.join(' ')}`, { env: { KEY: token } });
  }

  it('keeps the key where it is open, and hands it out', async () => {
    const { code, stdout, stderr } = await login();
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout).to.include('saved in the system keychain');
    const { code: read, stderr: refused } = await home.run(['whoami']);
    expect(read, refused).to.equal(0);
  });

  for (const state of ['refusing', 'hiding', 'waiting'])
    it(`that is locked (${state}) is called locked when a key is saved`, async () => {
      is(state);
      const refused = await login('--store', 'keychain');
      expect([refused.code, refused.stderr]).to.deep.equal([
        4,
        'Error (keychain_locked): The system keychain is locked, so nothing was saved.\n' +
          'Hint: Unlock it and try again, or save the key in a file of mode 0600 instead: --store file\n',
      ]);
      const saved = await login();
      expect([saved.code, saved.stderr]).to.deep.equal([
        0,
        `Saved in ${file()} (mode 0600): the system keychain is locked.\n` +
          'Once it is unlocked: service login 127-0-0-1 --move-to keychain\n',
      ]);
      const { checks } = JSON.parse((await home.run(['doctor', '--json'])).stdout);
      const found = checks.find(({ name }: { name: string }) => name === 'keychain');
      expect(found).to.include({ code: 'keychain_locked', fix: 'service login 127-0-0-1 --move-to keychain' });
      expect(found.message).to.include('the system keychain is locked');
    });

  for (const state of ['refusing', 'hiding', 'waiting'])
    it(`that is locked (${state}) is called locked when a key is read`, async () => {
      await login();
      is(state);
      const { code, stderr } = await home.run(['whoami']);
      expect([code, stderr]).to.deep.equal([
        4,
        'Error (keychain_locked): The key is in the system keychain, which is locked.\n' +
          'Hint: Unlock the keychain and try again, or sign in anew: service login 127-0-0-1 --store file\n',
      ]);
      const { checks } = JSON.parse((await home.run(['doctor', '--json'])).stdout);
      const found = checks.find(({ name }: { name: string }) => name === 'keychain');
      expect(found).to.include({ code: 'keychain_locked', fix: 'service login 127-0-0-1 --store file' });
    });

  it('that is locked forgets no key, and says so', async () => {
    await login();
    is('refusing');
    for (const args of [
      ['logout', server.url, '--keep-key'],
      ['uninstall', '--data', '--yes'],
    ]) {
      const { code, stderr } = await home.run(args);
      expect([code, stderr], args[0]).to.deep.equal([
        4,
        'Error (keychain_locked): The system keychain is locked, so the key in it was not removed.\n' +
          'Hint: Unlock it and try again\n',
      ]);
    }
    rmSync(join(keychain, 'state'));
    expect((await home.run(['whoami'])).code).to.equal(0);
    expect((await home.run(['logout', server.url, '--keep-key'])).code).to.equal(0);
    expect(readdirSync(keychain)).to.deep.equal([]);
  });

  const unusable: Record<string, Record<string, string>> = {
    broken: {},
    'not there': { DBUS_SESSION_BUS_ADDRESS: '' },
  };
  for (const [way, env] of Object.entries(unusable))
    it(`that cannot be used (${way}) keeps the key, which is said, and no data is deleted`, async () => {
      await login();
      const token = server.dana.token ?? '';
      const second = await LossyNetwork.to(server.url);
      network = second;
      await home.shell(`echo "$KEY" | service login ${second.url}`, { env: { KEY: token } });
      const entries = readdirSync(keychain);
      if (way === 'broken') is('broken');
      const kept = 'The system keychain cannot be used from here, so the key in it was not removed.';
      const refused = await home.run(['uninstall', '--data', '--yes'], { env });
      expect([refused.code, refused.stderr]).to.deep.equal([
        4,
        `Error (keychain_locked): ${kept}\nHint: Try again where the keychain works, such as in a desktop session; to leave the key there: service logout ${server.url} --keep-key\n`,
      ]);
      const warning = `Warning: ${kept}\nHint: Where it works, delete the key’s entry of service-cli\n`;
      const out = await home.run(['logout', server.url, '--keep-key'], { env });
      expect([out.code, out.stderr]).to.deep.equal([0, warning]);
      const forgotten = await home.run(['servers', 'forget', second.url], { env });
      expect([forgotten.code, forgotten.stderr]).to.deep.equal([0, warning]);
      expect(readdirSync(keychain)).to.include.members(entries);
      expect((await home.run(['uninstall', '--data', '--yes'], { env })).code).to.equal(0);
    });

  it('keeps the key until another one is saved in the file', async () => {
    await login();
    const token = server.dana.token ?? '';
    const failed = await home.shell(`echo "$KEY" | (ulimit -f 0; service login ${server.url} --store file)`, {
      env: { KEY: token },
    });
    expect(failed.code).to.not.equal(0);
    rmSync(home.path('config', 'credentials.lock'), { force: true });
    expect((await home.json(['whoami'])).server.url).to.equal(server.url);
    expect((await login('--store', 'file')).code).to.equal(0);
    expect(readdirSync(keychain)).to.deep.equal([]);
    expect((await home.json(['whoami'])).server.url).to.equal(server.url);
  });

  it('keeps the key of each SERVICE_HOME for itself', async () => {
    const ben = await server.person('ben');
    noteSecrets(ben.token ?? '');
    const second = { SERVICE_HOME: join(home.dir, 'second') };
    const whoIs = async (env: Record<string, string>) => (await home.json(['whoami'], { env })).me.name;
    await login();
    const dana = await whoIs({});
    await home.shell(`echo "$KEY" | service login ${server.url}`, { env: { ...second, KEY: ben.token ?? '' } });
    expect([await whoIs({}), await whoIs(second)]).to.deep.equal([dana, 'ben']);
    await home.run(['logout', server.url, '--keep-key'], { env: second });
    expect(await whoIs({})).to.equal(dana);
  });

  it('keeps the key of each address of a server for itself', async () => {
    await login();
    network = await LossyNetwork.to(server.url);
    await home.shell(`echo "$KEY" | service login ${network.url}`, { env: { KEY: server.dana.token ?? '' } });
    await home.json(['servers', 'forget', server.url]);
    expect((await home.json(['whoami'])).server.url).to.equal(network.url);
    await home.json(['servers', 'forget', network.url]);
    expect(readdirSync(keychain)).to.deep.equal([]);
  });

  it('keeps nothing of a request at a server that is forgotten', async () => {
    await home.json(['machine', 'request', server.url, '--handle', 'dana', '--detach']);
    expect(readdirSync(keychain)).to.have.length(1);
    expect((await home.run(['servers', 'forget', server.url])).code).to.equal(0);
    expect(readdirSync(keychain)).to.deep.equal([]);
  });

  it('keeps nothing of a request that another one replaced', async () => {
    const request = ['machine', 'request', server.url, '--handle', 'dana', '--detach'];
    await home.json(request);
    expect(readdirSync(keychain)).to.have.length(1);
    await home.json(request, { env: { SERVICE_KEYSTORE: 'file' } });
    expect(readdirSync(keychain)).to.deep.equal([]);
  });

  it('hands out a key that an earlier version saved under the id of the server, to the address it was saved for', async () => {
    const whoami = () => home.json(['whoami', '--server', server.url]);
    await login();
    const saved = JSON.parse(readFileSync(file(), 'utf8'));
    const entry = saved.servers[server.url];
    const { account } = entry.key;
    delete entry.key.account;
    const elsewhere = 'http://127.0.0.1:9';
    saved.servers[elsewhere] = { ...entry, name: 'elsewhere' };
    writeFileSync(file(), JSON.stringify(saved));
    const before = join(keychain, encodeURIComponent(`key:${entry.server_id}`));
    renameSync(join(keychain, encodeURIComponent(account)), before);
    expect((await whoami()).server.url).to.equal(server.url);
    const refused = await home.run(['whoami', '--server', elsewhere, '--json']);
    expect(JSON.parse(refused.stdout).error.code).to.equal('login_required');
    await home.json(['logout', elsewhere, '--keep-key']);
    expect((await whoami()).server.url).to.equal(server.url);
    await home.json(['login', server.url, '--move-to', 'keychain']);
    expect(readdirSync(keychain)).to.deep.equal([encodeURIComponent(account)]);
    expect((await whoami()).server.url).to.equal(server.url);
  });

  it('that cannot be used is not called locked', async () => {
    await login();
    is('broken');
    const { code, stderr } = await home.run(['whoami']);
    expect(code).to.equal(4);
    expect(stderr).to.include('The key is in the system keychain, which cannot be used from here.');
    expect((await login()).stderr).to.equal(`Saved in ${file()} (mode 0600): no system keychain here.\n`);
    expect((await login('--store', 'keychain')).stderr).to.include('Error (keychain_unavailable)');
  });

  it('that lost the key is not called locked either', async () => {
    await login();
    for (const entry of readdirSync(keychain)) rmSync(join(keychain, entry));
    const { code, stderr } = await home.run(['whoami']);
    expect([code, stderr]).to.deep.equal([
      4,
      `Error (login_required): There is no key for ${server.url} on this machine.\nHint: service login ${server.url}\n`,
    ]);
    const { checks } = JSON.parse((await home.run(['doctor', '--json'])).stdout);
    const found = checks.find(({ name }: { name: string }) => name === 'keychain');
    expect(found).to.include({ code: 'login_missing', fix: `service login ${server.url}` });
  });
});
