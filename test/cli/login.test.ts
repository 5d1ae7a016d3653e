/** Signing in with a key: checked first, told whose it is and whether it was in use, and moved from one place to another. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { startTestServer, type TestServer } from '../support/server.ts';
import { Home } from './support/home.ts';
import { PlayedSession } from './support/played.ts';

describe('service login', () => {
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

  const login = (token: string | undefined, ...flags: string[]) =>
    home.shell(`printf %s '${token}' | service login ${server.url} --store file ${flags.join(' ')}`);
  const saved = () => JSON.parse(readFileSync(home.path('config', 'credentials.json'), 'utf8')).servers[server.url];

  it('names person and key, and says when the key was used before, once', async () => {
    const ivy = await server.person('ivy');
    const fresh = await ivy.ok('createKey', { body: { name: 'fresh' } });
    const { stdout } = await login(fresh.token);
    expect(stdout).to.match(/^Signed in to \S+ as ivy \(member\) with key "fresh", saved in \S+\.\n$/);
    expect(saved().key).to.include({ id: fresh.id, name: 'fresh', expires_at: fresh.expires_at });
    expect((await login(fresh.token)).stdout.trim().split('\n')).to.have.length(1);
    const used = (await login(ivy.token)).stdout.trim().split('\n');
    expect(used[1]).to.equal('Last used just now, maybe by another machine: one revocation would then cut both.');
  });

  it('prints one record', async () => {
    const joe = await server.person('joe');
    await joe.ok('getMe');
    const { stdout } = await login(joe.token, '--json');
    const record = JSON.parse(stdout);
    expect(record.person).to.include({ handle: 'joe', server_role: 'member' });
    expect(record.key).to.include({ name: 'laptop', state: 'working' });
    expect(record).to.include({ stored: 'file', replaced: false, default: true });
    expect(record.previous_use).to.match(/Z$/);
    expect(stdout).not.to.include('abh_');
  });

  it('says whose key it replaced, and leaves that person’s agents to act when they are back', async () => {
    const [lea, max] = [await server.person('lea'), await server.person('max')];
    const board = await lea.ok('createBoard', { body: { name: 'shared' } });
    await lea.ok('addBoardPerson', { params: { board: board.name }, body: { handle: 'max' } });
    await login(lea.token);
    await home.json(['agent', 'create', 'codex', '--board', 'shared']);
    const as = async () => {
      const { stdout } = await home.run(['say', 'hello', '--as', 'codex', '--board', 'shared', '--json']);
      return JSON.parse(stdout);
    };
    const { id } = (await as()).message.from;
    const taken = await login(max.token);
    expect(taken.stdout).to.include(
      '\nlea was signed in here before: the key of lea was replaced, and is not revoked by that. ' +
        'Until lea signs in again, these agents do not act here: codex@shared.\n',
    );
    expect((await as()).error.code).to.equal('agent_seat_elsewhere');
    expect((await home.json(['servers', 'list'])).servers[0]).to.include({ handle: 'max', seats: 0 });
    await home.json(['agent', 'create', 'fixer', '--board', 'shared']);
    const back = JSON.parse((await login(lea.token, '--json')).stdout);
    expect(back.replaced).to.equal(true);
    expect(back.replaced_person).to.deep.include({ handle: 'max', agents: ['fixer@shared'] });
    expect((await as()).message.from.id).to.equal(id);
    expect(JSON.parse((await login(lea.token, '--json')).stdout)).to.not.have.property('replaced_person');
  });

  it('lets no session act whose agent is somebody else’s, until that person is back', async () => {
    const [tom, una] = [await server.person('tom'), await server.person('una')];
    const { name: board } = await tom.ok('createBoard', { body: { name: 'both' } });
    await tom.ok('addBoardPerson', { params: { board }, body: { handle: 'una' } });
    const session = new PlayedSession(home, 'one');
    try {
      await login(tom.token);
      await session.start();
      const { agent } = await session.json(['join', '--board', board, '--name', 'codex']);
      await login(una.token);
      const refused = await session.run(['say', 'who am I?']);
      expect(JSON.parse(refused.stdout).error.code).to.equal('agent_not_selected');
      const other = await session.json(['join', '--board', board]);
      expect([other.agent.owner, other.agent.id === agent.id]).to.deep.equal(['una', false]);
      await session.json(['say', 'of una']);
      await login(tom.token);
      const again = await session.json(['join', '--board', board]);
      expect([again.agent.owner, again.agent.id]).to.deep.equal(['tom', agent.id]);
      expect((await session.json(['say', 'of tom'])).message.from.id).to.equal(agent.id);
    } finally {
      await home.run(['daemon', 'stop']);
    }
  });

  it('signs a guest in too, whose key is not told', async () => {
    const gus = await server.person('gus', 'guest');
    const { stdout } = await login(gus.token);
    expect(stdout).to.match(/^Signed in to \S+ as gus \(guest\), key saved in \S+\.\n$/);
    expect((await home.json(['whoami'])).me.name).to.equal('gus');
  });

  it('says how a key is given, or got, where standard input is an empty pipe', async () => {
    const { code, stderr } = await login('');
    expect([code, stderr]).to.deep.equal([
      2,
      `Error (invalid_request): The key is missing.\nHint: Pipe it in: service login ${server.url} < key.txt; ` +
        `where you are signed in on another machine only: service machine request ${server.url}\n`,
    ]);
  });

  it('saves nothing of a key that does not work', async () => {
    const { code, stderr } = await login(`abh_${'A'.repeat(43)}`);
    expect([code, stderr.split(':')[0]]).to.deep.equal([4, 'Error (unauthorized)']);
    expect((await home.json(['servers'])).servers).to.deep.equal([]);
  });

  it('moves a key that is here, and says so where there is none or no keychain', async () => {
    const none = await home.run(['login', server.url, '--move-to', 'file']);
    expect(none.code).to.not.equal(0);
    const kay = await server.person('kay');
    await login(kay.token);
    const moved = await home.run(['login', server.url, '--move-to', 'file']);
    expect(moved.stdout).to.match(/^The key for \S+ is in \S+credentials\.json now\.\n$/);
    expect(saved().key).to.include({ store: 'file', token: kay.token });
    const away = await home.run(['login', server.url, '--move-to', 'keychain'], {
      env: { DBUS_SESSION_BUS_ADDRESS: '', XDG_RUNTIME_DIR: home.dir },
    });
    if (process.platform === 'linux') expect(away.stderr).to.include('keychain_unavailable');
    expect((await home.json(['whoami'])).me.name).to.equal('kay');
  });
});
