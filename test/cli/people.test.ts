/** A person signed in to a server of several people: their keys, others' roles and handles. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { startTestServer, type TestServer } from '../support/server.ts';
import { Home } from './support/home.ts';
import { LossyNetwork } from './support/lossy.ts';
import { typed } from './support/terminal.ts';

describe('people of a server, from the command line', () => {
  let server: TestServer;
  let home: Home;
  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());
  beforeEach(() => {
    home = new Home();
  });
  afterEach(() => home.close());

  const signIn = (token: string | undefined) =>
    home.shell(`printf %s '${token}' | service login ${server.url} --store file -q`);
  const ids = async (command: string[]) => (await home.json(command)).keys.map((key: { id: string }) => key.id);

  it('are made admins and renamed by an admin; handles are written with or without @', async () => {
    await server.person('mia');
    await signIn((await server.person('ada', 'admin')).token);
    const made = await home.json(['people', 'role', '@mia', 'admin', '--idempotency-key', 'role-1']);
    expect(made).to.deep.include({ changed: true });
    expect(made.person).to.include({ handle: 'mia', server_role: 'admin' });
    const again = await home.run(['people', 'role', 'mia', 'admin', '--idempotency-key', 'role-1']);
    expect(again.stdout).to.equal(`mia is an admin of ${server.url} now. (already done)\n`);
    const renamed = await home.run(['people', 'rename', 'mia', '@mila', '--yes']);
    expect(renamed.stdout).to.equal('mia is mila now.\n');
    const { people } = await home.json(['people', 'list']);
    expect(people.map((person: { handle: string }) => person.handle)).to.include.members(['mila', 'ada']);
    expect((await home.run(['people', '--ndjson'])).stdout.trim().split('\n')).to.have.length(people.length);
    expect((await home.run(['people', 'show', 'mia'])).code).to.equal(6);
    expect((await home.json(['people', 'show', 'mila'])).person).to.have.keys('id', 'handle', 'display_name');
  });

  it('keep being known here by their new handle', async () => {
    await signIn((await server.person('kim')).token);
    await home.run(['people', 'rename', 'me', 'kimberly', '--yes']);
    const { actor, me } = await home.json(['whoami']);
    expect([actor.name, me.name]).to.deep.equal(['kimberly', 'kimberly']);
    const { servers } = await home.json(['servers']);
    expect(servers[0].handle).to.equal('kimberly');
  });

  it('reach their own agents under a handle that was changed elsewhere, and by a credential of the environment', async () => {
    const may = await server.person('may');
    await signIn(may.token);
    await home.run(['board', 'create', 'handles', '-q']);
    await home.run(['agent', 'create', 'fixer', '-q']);
    await may.ok('renamePerson', { params: { handle: 'may' }, body: { handle: 'maya' } });
    const post = async (env = {}) =>
      (await home.json(['say', 'Hello', '--to', 'mine', '-b', 'handles'], { env })).message.to;
    expect(await post()).to.deep.equal(['owner:maya']);
    expect(await post({ SERVICE_TOKEN: may.token, SERVICE_SERVER: server.url })).to.deep.equal(['owner:maya']);
  });

  it('see and end each other’s keys as admins only', async () => {
    const bob = await server.person('bob');
    const spare = await bob.ok('createKey', { body: { name: 'spare' } });
    await signIn((await server.person('eva', 'admin')).token);
    expect(await ids(['key', 'list', '--person', 'bob'])).to.include(spare.id);
    const { stdout } = await home.run(['key', 'revoke', 'spare', '--person', '@bob']);
    expect(stdout).to.equal(`Revoked key spare of bob on ${server.url}.\n`);
    expect((await bob.ok('listKeys')).keys.find((key) => key.id === spare.id)?.state).to.equal('revoked');
    await signIn(bob.token);
    const refused = await home.run(['key', 'list', '--person', 'eva', '--server', server.url]);
    expect([refused.code, refused.stderr.split(':')[0]]).to.deep.equal([5, 'Error (server_admin_required)']);
    const list = `service people list --server ${server.url} shows who they are.`;
    expect(refused.stderr).to.include(`Hint: Ask one of the admins: ${list}`);
  });

  it('make a key that works elsewhere, as a credential of the environment', async () => {
    await signIn((await server.person('lea')).token);
    const { key } = await home.json(['key', 'create', 'ci', '--expires', '1h']);
    const env = { SERVICE_TOKEN: key.token, SERVICE_SERVER: server.url };
    expect((await home.json(['whoami'], { env })).me.name).to.equal('lea');
    const { stdout } = await home.run(['key', 'list'], { env });
    expect(stdout).to.match(/ci +working .* this machine/);
    const printed = await home.run(['key', 'create', 'more', '--json']);
    expect(JSON.parse(printed.stdout).key.token).to.match(/^abh_/);
    expect(printed.stderr).not.to.include('abh_');
  });

  it('are signed out here when they revoke the key in use, and only then', async () => {
    const zoe = await server.person('zoe');
    await signIn(zoe.token);
    await home.run(['key', 'create', 'spare']);
    expect((await home.json(['key', 'revoke', 'spare'])).this_machine).to.equal(false);
    const asked = await home.run(['key', 'revoke', 'laptop']);
    expect([asked.code, asked.stderr.split(':')[0]]).to.deep.equal([2, 'Error (confirmation_required)']);
    const revoked = await home.json(['key', 'revoke', 'laptop', '--yes']);
    expect(revoked).to.deep.include({ this_machine: true });
    expect(revoked.key).to.include({ name: 'laptop', state: 'revoked' });
    expect((await home.run(['whoami'])).stderr).to.include('login_required');
    expect(await zoe.refused('getMe')).to.equal('401 unauthorized');
  });

  it('are signed out here when they remove themselves, also where the answer to that is lost', async () => {
    const network = await LossyNetwork.to(server.url);
    try {
      const { token } = await server.person('ivo', 'admin');
      await home.shell(`printf %s '${token}' | service login ${network.url} --store file -q`);
      await home.run(['board', 'create', 'of-ivo', '-q']);
      await home.run(['agent', 'create', 'fixer', '-q']);
      let lost = 0;
      network.decide = ({ method, path }) =>
        method === 'DELETE' && !path.includes('dry_run=true') && lost++ === 0 ? 'lose' : 'pass';
      const { removal } = await home.json(['people', 'remove', 'ivo', '--yes']);
      expect(removal).to.include({ dry_run: false, keys_revoked: 1, agents_removed: 1, boards_left: 1 });
      expect(lost).to.equal(2);
      expect(JSON.parse((await home.run(['whoami', '--json'])).stdout).error.code).to.equal('login_required');
    } finally {
      network.close();
    }
  });

  it('are removed by an admin who said yes to it, also where they rename themselves meanwhile', async () => {
    const network = await LossyNetwork.to(server.url);
    try {
      const { token } = await server.person('una', 'admin');
      await home.shell(`printf %s '${token}' | service login ${network.url} --store file -q`);
      const sam = await server.person('sam');
      network.decide = async ({ method, path }) => {
        if (method === 'DELETE' && !path.includes('dry_run=true'))
          await sam.ok('renamePerson', { params: { handle: 'sam' }, body: { handle: 'x9' } });
        return 'pass' as const;
      };
      expect(await typed(home, 'service people remove sam', [['Remove sam?', 'y']])).to.include('Removed x9 from');
      expect(await sam.refused('getMe')).to.equal('401 unauthorized');
    } finally {
      network.close();
    }
  });

  it('name a key by its id where several of a name have ended', async () => {
    await signIn((await server.person('ned')).token);
    for (const _round of [1, 2]) {
      await home.run(['key', 'create', 'ci']);
      await home.run(['key', 'revoke', 'ci', '-q']);
    }
    const several = await home.run(['key', 'revoke', 'ci', '--json']);
    expect(several.code).to.equal(2);
    const { error } = JSON.parse(several.stdout);
    expect(error.code).to.equal('key_not_selected');
    expect(error.details.choices).to.have.length(2);
    expect((await home.json(['key', 'revoke', error.details.choices[0]])).key.state).to.equal('revoked');
  });

  it('do not make a key twice when its answer is lost: it is said how to see whether there is one', async () => {
    let requests = 0;
    const deaf = createServer((req) => {
      requests++;
      req.resume().on('end', () => req.socket.destroy());
    }).listen(0, '127.0.0.1');
    await once(deaf, 'listening');
    const { port } = deaf.address() as AddressInfo;
    const env = { SERVICE_TOKEN: `abh_${'A'.repeat(43)}`, SERVICE_SERVER: `http://127.0.0.1:${port}` };
    const lost = await home.run(['key', 'create', 'ci'], { env });
    expect(lost.code).to.equal(8);
    expect(requests).to.equal(1);
    const there = ` --server http://127.0.0.1:${port}`;
    for (const [args, list, revoke] of [
      [['key', 'create', 'ci'], `key list${there}`, `key revoke ci${there}`],
      [['invite', 'create'], `invite list${there}`, `invite revoke ID${there}`],
      [
        ['code', 'create', '--role', 'writer', '--board', 'far'],
        `code list --board far${there}`,
        `code revoke ID --board far${there}`,
      ],
    ] as const) {
      const { stderr } = await home.run([...args, ...there.trim().split(' ')], { env });
      const hint = `Hint: See whether it is there: service ${list}. Revoke it with: service ${revoke}\n`;
      expect(stderr).to.include('outcome_unknown').and.include(hint);
    }
    deaf.close();
  });
});
