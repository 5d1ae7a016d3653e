/** What `service doctor` finds of servers, keys and seats: made so, named, and mended by its own lines. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Api } from '../support/api.ts';
import { noteSecrets } from '../support/secrets.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { DoctorMachine } from './support/doctor/machine.ts';
import { finished } from './support/home.ts';

describe('service doctor on servers and seats', () => {
  let server: TestServer;
  let machine: DoctorMachine;
  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());
  beforeEach(() => {
    machine = new DoctorMachine();
    for (const name of ['claude', 'omp']) machine.remove(name);
    // A key in a file is a finding of its own where a keychain could hold it.
    expected = ['keychain_unavailable'];
  });
  afterEach(() => machine.close());
  let expected: string[] = [];
  const quiet = async () => expect(await machine.codes()).to.deep.equal(expected);

  /** Signs in with a key of this person that can be revoked. */
  async function signIn(person: Api, name: string): Promise<{ id: string; line: string }> {
    const key = await person.ok('createKey', { body: { name } });
    noteSecrets(key.token);
    const line = `printf %s '${key.token}' | service login ${server.url} --store file`;
    await machine.mend(line);
    return { id: key.id, line };
  }

  it('names a server of this machine that hangs, with the line that ends it and starts another', async () => {
    await machine.json(['server', 'start']);
    expected = await machine.codes();
    const pid = machine.serverPid() as number;
    process.kill(pid, 'SIGSTOP');
    const { error } = JSON.parse((await machine.run(['server', 'stop', '--json'])).stdout);
    const { fix } = await machine.names('server_unreachable', 'error');
    expect([error.code, error.hint]).to.deep.equal(['server_unexpected', fix]);
    await machine.mend(fix);
    expect(machine.serverPid()).to.not.equal(pid);
    await quiet();
  });

  it('names a key that works no longer, and the seats that ended with it', async () => {
    const ann = await server.person('ann');
    const { id } = await signIn(ann, 'first');
    await machine.json(['init', '--yes', '--allow-commands', '--harness', 'codex']);
    await machine.json(['daemon', 'start']);
    await machine.json(['board', 'create', 'anns']);
    const env = { CODEX_THREAD_ID: 'one', CODEX_SESSION_ID: 'one' };
    const hook = machine.start(['hook', 'codex', 'session-start'], { stdin: 'pipe', env });
    hook.stdin!.end(JSON.stringify({ session_id: 'one', hook_event_name: 'SessionStart', cwd: machine.work }));
    await finished(hook);
    await machine.json(['join', '--board', 'anns', '--name', 'codex'], { env, cwd: machine.dir });
    await quiet();
    await ann.ok('revokeKey', { params: { key: id } });
    const found = (await machine.doctor()).filter(({ code }) => code === 'unauthorized');
    expect(found.map(({ name, level }) => [name, level])).to.deep.equal([
      ['server 127-0-0-1', 'error'],
      ['seats', 'error'],
    ]);
    const [key, seat] = found;
    expect(key!.fix).to.equal(`service login ${server.url}`);
    expect(key!.message).to.equal(`Your key for ${server.url} does not work any more: it was revoked or has expired.`);
    const fresh = await ann.ok('createKey', { body: { name: 'second' } });
    noteSecrets(fresh.token);
    await machine.mend(`printf %s '${fresh.token}' | ${key!.fix} --store file`);
    expect(seat!.fix).to.equal(`cd ${machine.work} && codex resume one 'Run: service join --board anns --name codex'`);
    await machine.mend(seat!.fix!);
    await quiet();
  });

  it('names a server of which there is no key', async () => {
    const bea = await server.person('bea');
    machine.remove('codex');
    const { line } = await signIn(bea, 'here');
    edit((entry) => {
      entry.key = null;
    });
    const { fix } = await machine.names('login_missing', 'warning');
    expect(fix).to.equal(`service login ${server.url}`);
    await machine.mend(line);
    await quiet();
  });

  it('names seats that ended, and has them forgotten', async () => {
    expected = [];
    machine.remove('codex');
    await machine.json(['board', 'create', 'one']);
    await machine.json(['board', 'create', 'two', '--no-link']);
    await machine.json(['agent', 'create', 'codex', '--board', 'one']);
    await machine.json(['agent', 'create', 'codex', '--board', 'two']);
    const path = machine.path('config', 'credentials.json');
    const kept = readFileSync(path, 'utf8');
    await machine.json(['agent', 'remove', 'codex', '--board', 'one', '--yes']);
    await machine.json(['board', 'archive', 'two', '--yes']);
    await machine.json(['board', 'delete', 'two', '--yes']);
    writeFileSync(path, kept);
    for (const code of ['agent_removed', 'board_gone']) {
      const { fix, message } = await machine.names(code, 'error');
      expect(message).to.match(/^codex on (one|two): /);
      // There is nothing left to leave, which the command says, and forgets the seat.
      expect((await machine.shell(fix)).stderr).to.match(/Hint: codex on (one|two) is forgotten on this machine now/);
      expect(await machine.codes()).to.not.include(code);
    }
    await quiet();
    expect(readFileSync(path, 'utf8')).to.not.match(/aba_/);
  });

  describe('at an address', () => {
    let stranger: Server;
    let answer: object;
    const origin = () => `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
    beforeEach(async () => {
      expected = [];
      machine.remove('codex');
      answer = {
        name: 'service',
        version: (await machine.json(['version'])).version,
        server_id: 'srv_known',
        mode: 'team',
        features: ['tasks', 'asks', 'lines', 'files', 'onboarding', 'search', 'board_stream'],
        storage: { db: 'sqlite', files: 'disk' },
      };
      stranger = createServer((_, response) => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(answer));
      });
      await listen(0);
      await machine.json(['board', 'create', 'demo', '--no-link']);
      const path = machine.path('config', 'credentials.json');
      const saved = JSON.parse(readFileSync(path, 'utf8'));
      const entry = { server_id: 'srv_known', name: 'team', mode: 'team', person: null, key: null, seats: {} };
      writeFileSync(path, JSON.stringify({ ...saved, servers: { ...saved.servers, [origin()]: entry } }));
      await quiet();
    });
    afterEach(() => void stranger.close());
    const listen = (port: number) => new Promise<void>((done) => stranger.listen(port, '127.0.0.1', done));
    const deaf = () => new Promise((done) => stranger.close(done));

    it('names a server that does not answer, and one that this sandbox keeps from answering', async () => {
      const url = origin();
      const { port } = stranger.address() as AddressInfo;
      await deaf();
      const { fix } = await machine.names('server_unreachable', 'error');
      expect(fix).to.equal(`service server info ${url}`);
      const sandbox = { CODEX_THREAD_ID: 'one', CODEX_SANDBOX: 'seatbelt', CODEX_SANDBOX_NETWORK_DISABLED: '1' };
      const blocked = await machine.names('sandbox_blocks_network', 'error', sandbox);
      expect(blocked.fix).to.equal('service init --harness codex --allow-commands --yes');
      await listen(port);
      await machine.mend(fix);
      await quiet();
    });

    it('names one that cannot do what this program needs', async () => {
      const whole = answer;
      answer = { ...answer, features: ['tasks', 'asks', 'lines', 'files', 'search'] };
      const { message, fix } = await machine.names('server_outdated', 'warning');
      expect(message).to.include('does not have onboarding, board_stream');
      await machine.mend(fix);
      answer = whole;
      await quiet();
    });

    it('names one that is another now, to which no key was sent', async () => {
      answer = { ...answer, server_id: 'srv_another' };
      const { fix } = await machine.names('server_identity_changed', 'error');
      expect(fix).to.equal(`service login ${origin()}`);
    });
  });

  /** What is saved of the server. */
  function edit(change: (entry: { key: object | null }) => void): void {
    const path = machine.path('config', 'credentials.json');
    const saved = JSON.parse(readFileSync(path, 'utf8'));
    change(saved.servers[server.url]);
    writeFileSync(path, JSON.stringify(saved));
  }
});
