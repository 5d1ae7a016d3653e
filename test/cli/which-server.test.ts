/** Which server a command goes to where several are known: one rule, and what nobody chose is named first. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../support/free-port.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { collect, Home, until } from './support/home.ts';

describe('the server in use', () => {
  let home: Home;
  let first: TestServer;
  let second: TestServer;
  before(async () => {
    home = new Home();
    [first, second] = [await startTestServer('sqlite'), await startTestServer('sqlite')];
    await home.json(['board', 'create', 'mine', '--no-link']);
    for (const server of [first, second]) await server.dana.ok('createBoard', { body: { name: 'ours' } });
  });
  after(async () => {
    await home.close();
    await first.stop();
    await second.stop();
  });

  const login = ({ url, dana }: TestServer) =>
    home.shell(`printf %s '${dana.token}' | service login ${url} --store file --json`);
  const used = async (args: string[] = [], env: Record<string, string> = {}): Promise<[url: string, said: string]> => {
    const { server } = await home.json(['board', 'list', ...args], { env });
    const { stderr } = await home.run(['board', 'list', ...args], { env });
    return [server.url, stderr];
  };
  const nameOf = async (url: string): Promise<string> =>
    (await home.json(['servers'])).servers.find((one: { url: string }) => one.url === url).name;

  it('is the local one where there is no other, which needs no word', async () => {
    const [url, said] = await used();
    expect([url, said]).to.deep.equal([(await home.json(['servers'])).default, '']);
  });

  it('is the one last logged in to, which is said first, for every command', async () => {
    for (const server of [first, second]) {
      const record = JSON.parse((await login(server)).stdout);
      expect(record.default).to.equal(true);
      const line = `Server: ${await nameOf(server.url)} (${server.url}), the one last logged in to\n`;
      expect(await used()).to.deep.equal([server.url, line]);
      for (const args of [['inbox'], ['whoami'], ['read', '--board', 'ours']])
        expect((await home.run(args)).stderr, args.join(' ')).to.equal(line);
      expect((await home.json(['servers'])).default).to.equal(server.url);
    }
  });

  it('is another than that of the folder: a new board of the same name is not the linked one', async () => {
    const path = join(home.work, '.service');
    writeFileSync(path, JSON.stringify({ server: first.url, board: 'twin' }));
    try {
      const args = ['board', 'create', 'twin', '--server', 'local'];
      const { stdout } = await home.run(args);
      expect(stdout).to.include('\nThis folder stays linked to the board of that name elsewhere.\n');
      const again = await home.json([...args.slice(0, 2), 'other', '--server', 'local']);
      expect([again.linked, again.stays_linked]).to.deep.equal([false, 'twin']);
    } finally {
      rmSync(path);
    }
  });

  it('is chosen by a flag, else a variable, else the folder, else "servers use", each without a word', async () => {
    const [flag, variable, folder] = [
      ['--server', 'local'],
      { SERVICE_SERVER: first.url },
      join(home.work, '.service'),
    ];
    const local = (await home.json(['whoami', '--server', 'local'])).server.url;
    await home.json(['servers', 'use', first.url]);
    expect(await used()).to.deep.equal([first.url, '']);
    const again = JSON.parse((await login(second)).stdout);
    expect(again.default).to.equal(false);
    expect(await used()).to.deep.equal([first.url, '']);
    writeFileSync(folder, JSON.stringify({ server: second.url, board: 'ours' }));
    expect(await used()).to.deep.equal([second.url, '']);
    expect(await used([], variable)).to.deep.equal([first.url, '']);
    expect(await used(flag, variable)).to.deep.equal([local, '']);
    rmSync(folder);
  });

  it('is that of the seat for an agent, and another that is named is refused, with a token of the environment too', async () => {
    await home.json(['agent', 'create', 'codex', '--board', 'mine', '--server', 'local']);
    const env = { SERVICE_TOKEN: first.dana.token!, SERVICE_SERVER: first.url };
    const args = ['say', 'hi', '--as', 'codex'];
    for (const around of [{}, env]) {
      const { code, stdout } = await home.run([...args, '--server', first.url, '--json'], { env: around });
      expect([code, JSON.parse(stdout).error?.code]).to.deep.equal([2, 'agent_on_another_server']);
      expect((await home.json([...args, '--server', 'local'], { env: around })).message.from.name).to.equal('codex');
    }
    const chosen = { ...env, SERVICE_AGENT: 'codex' };
    expect((await home.json(['say', 'hi'], { env: chosen })).message.from.name).to.equal('codex');
    const elsewhere = await home.run(['say', 'hi', '--server', first.url, '--json'], { env: chosen });
    expect(JSON.parse(elsewhere.stdout).error?.code).to.equal('agent_on_another_server');
    const person = await home.run(['key', 'list', '--json'], { env: chosen });
    expect(JSON.parse(person.stdout).error?.code).to.equal('human_command_in_session');
  });

  it('is named by what is said to be run next, where that goes to another one otherwise', async () => {
    const pia = await first.person('pia');
    await pia.ok('createBoard', { body: { name: 'pias' } });
    const at = ['--server', first.url];
    const make = `service agent create NAME --board`;
    const joined = await home.run(['join', '--board', 'pias', ...at]);
    expect(joined.stdout).to.include(`Next, a seat for an agent: ${make} pias --server ${first.url}\n`);
    const named = await home.run(['join', '--board', 'pias', '--name', 'codex', ...at]);
    expect(named.stderr).to.include(`: service agent create codex --board pias --server ${first.url}\n`);
    const alone = await home.run(['invite', 'create', '--board', 'pias', '--pairing', 'Review', ...at]);
    expect(alone.stderr).to.include(`Hint: Put one there first: ${make} pias --server ${first.url}\n`);
    expect((await home.run(['agents', ...at])).stdout).to.include(`: ${make} BOARD --server ${first.url}\n`);
    const work = await home.run(['pairing', 'list', ...at]);
    expect(work.stdout).to.include(`service pairing request HANDLE "WORK" --board BOARD --server ${first.url}\n`);
    const shown = await home.run(['agent', 'show', '--board', 'pias', ...at]);
    expect(shown.stderr).to.include(`Hint: service board agents --board pias --server ${first.url} lists them\n`);
  });

  it('is the one that is named for the key of a person in the environment, whose agents are looked for there', async () => {
    await home.json(['agent', 'create', 'cody', '--board', 'mine', '--server', 'local']);
    const person = { SERVICE_TOKEN: first.dana.token!, SERVICE_BOARD: 'ours' };
    const at = { ...person, SERVICE_SERVER: first.url };
    const { id } = (await home.json(['agent', 'create', 'cody', '--print-token'], { env: at })).agent;
    const fresh = new Home();
    try {
      for (const [where, env, flags] of [
        [home, at, []],
        [home, person, ['--server', first.url]],
        [home, person, ['--server', await nameOf(first.url)]],
        [fresh, at, []],
        [fresh, person, ['--server', first.url]],
      ] as const) {
        const json = (...args: string[]) => where.json([...args, ...flags], { env });
        expect((await json('agent', 'delivery', 'humans', '--as', 'cody')).server.url).to.equal(first.url);
        expect((await json('agent', 'budget', 'cody')).member_id).to.equal(id);
        expect((await json('agent', 'release', 'cody@ours')).member_id).to.equal(id);
      }
      for (const [env, flags, code] of [
        [at, [], 'agent_on_another_server'],
        [person, ['--server', first.url], 'agent_on_another_server'],
        [person, [], 'server_not_selected'],
      ] as const) {
        const words = ['agent', 'midturn', 'owner-only', '--as', 'cody@mine', ...flags, '--json', '--verbose'];
        const { stdout, stderr } = await home.run(words, { env });
        expect([JSON.parse(stdout).error.code, /GET|POST|PUT/.test(stderr)]).to.deep.equal([code, false]);
      }
    } finally {
      await fresh.close();
    }
  });

  it('is the local one where it was chosen before it ever ran, and so had no address yet', async () => {
    const fresh = new Home();
    try {
      for (const { url, dana } of [first, second])
        await fresh.shell(`printf %s '${dana.token}' | service login ${url} --store file`);
      await fresh.json(['servers', 'use', 'local']);
      // To forget another one takes back no choice.
      await fresh.json(['servers', 'forget', first.url]);
      const { url } = await fresh
        .json(['server', 'start'])
        .then(() => fresh.json(['whoami']).then(({ server }) => server));
      expect((await fresh.json(['servers'])).default).to.equal(url);
      expect(url).not.to.equal(second.url);
      expect((await fresh.json(['status'])).server.url).to.equal(url);
      await fresh.json(['servers', 'forget', 'local']);
      expect((await fresh.json(['servers'])).default).to.equal(second.url);
    } finally {
      await fresh.close();
    }
  });

  it('is no other where the chosen one is not known any more', async () => {
    const fresh = new Home();
    try {
      await fresh.json(['board', 'create', 'mine', '--no-link']);
      const file = fresh.path('config', 'credentials.json');
      const saved = JSON.parse(readFileSync(file, 'utf8'));
      writeFileSync(file, JSON.stringify({ ...saved, default: 'https://team.example.com' }));
      const { stdout } = await fresh.run(['say', 'hi', '--board', 'mine', '--json']);
      expect(JSON.parse(stdout).error.code).to.equal('server_unknown');
    } finally {
      await fresh.close();
    }
  });

  it('is said in one sentence by "service servers"', async () => {
    const { stdout } = await home.run(['servers']);
    expect(stdout.replaceAll('\n', ' ')).to.include(
      'Used is the server of --server, else SERVICE_SERVER, else the one of the folder’s board, else the one chosen with ' +
        'service servers use, else the one last logged in to, else the local one.',
    );
  });

  it('is the one before once its choice is forgotten and it was logged out of; the local one comes last', async () => {
    await home.json(['servers', 'forget', first.url]);
    expect((await used())[0]).to.equal(second.url);
    await home.json(['logout', second.url, '--keep-key']);
    const [url, said] = await used();
    expect([url, said]).to.deep.equal([(await home.json(['servers'])).default, `Server: local (${url})\n`]);
    expect(JSON.parse((await login(second)).stdout).default).to.equal(true);
    expect((await home.json(['login', 'local'])).default).to.equal(true);
    expect((await used())[0]).to.equal(url);
  });
});

describe('the server one has come onto', () => {
  let home: Home;
  let usual: TestServer;
  let other: TestServer;
  before(async () => {
    [usual, other] = [await startTestServer('sqlite'), await startTestServer('sqlite')];
  });
  after(async () => {
    await usual.stop();
    await other.stop();
  });
  beforeEach(async () => {
    home = new Home();
    await home.shell(`printf %s '${usual.dana.token}' | service login ${usual.url} --store file`);
  });
  afterEach(() => home.discard());

  const next = async (env: Record<string, string> = {}): Promise<string> => {
    const { invite } = await other.dana.ok('createInvite', { body: {} });
    const handle = `guest-${invite
      .slice(-8)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]/g, '0')}a`;
    const { stdout } = await home.shell(`printf %s '${invite}' | service connect - --handle ${handle} --yes`, { env });
    return stdout.split('\n')[1]!;
  };

  it('is named by the first step there where the folder or the environment means another', async () => {
    const elsewhere = `Next: service board list --all --server ${other.url}`;
    expect(await next({ SERVICE_SERVER: usual.url })).to.equal(elsewhere);
    await home.run(['servers', 'forget', other.url]);
    writeFileSync(join(home.work, '.service'), JSON.stringify({ server: usual.url, board: 'ours' }));
    expect(await next()).to.equal(elsewhere);
    rmSync(join(home.work, '.service'));
    await home.run(['servers', 'forget', other.url]);
    expect(await next()).to.equal('Next: service board list --all');
    await home.run(['servers', 'forget', other.url]);
    await home.json(['servers', 'use', usual.url]);
    expect(await next()).to.equal(elsewhere);
  });
});

describe('the server in use, where an agent connects to another one', () => {
  const inSession = { SERVICE_SESSION: 'claude-code:one', SERVICE_BOOT: 'feedfeedfeedfeed', CLAUDECODE: '1' };
  let home: Home;
  let other: TestServer;
  before(async () => {
    other = await startTestServer('sqlite');
  });
  after(() => other.stop());
  beforeEach(() => {
    home = new Home();
  });
  afterEach(() => home.close());

  /** As a message may tell an agent to. */
  const setUp = async (handle: string) => {
    const { invite } = await other.dana.ok('createInvite', { body: {} });
    const { stdout } = await home.run(['setup', invite, '--handle', handle, '--json'], { env: inSession });
    const steps = JSON.parse(stdout).steps as { name: string; state: string }[];
    expect(steps.find(({ name }) => name === 'account')!.state).to.equal('done');
  };
  const used = async (): Promise<string> => (await home.json(['servers'])).default;

  it('stays the one of the person, who still may log in to the other', async () => {
    const { url } = (await home.json(['board', 'create', 'mine', '--no-link'])).server;
    await setUp('maya');
    expect(await used()).to.equal(url);
    expect((await home.json(['say', 'for my eyes', '--board', 'mine', '--no-notes'])).server.url).to.equal(url);
    await home.shell(`printf %s '${other.dana.token}' | service login ${other.url} --store file`);
    expect(await used()).to.equal(other.url);
  });

  it('is that one where it is the first that this machine knows', async () => {
    await setUp('otto');
    expect(await used()).to.equal(other.url);
  });
});

describe('a team’s server at the address of the local one', () => {
  it('is not taken for it, and takes nothing from it', async () => {
    const home = new Home();
    const team = await startTestServer('sqlite');
    await team.dana.ok('createBoard', { body: { name: 'ours' } });
    const { host } = new URL(team.url);
    home.env = { ...home.env, SERVICE_LOCAL_ADDR: host };
    await team.close();
    try {
      await home.json(['board', 'create', 'mine', '--no-link']);
      await home.json(['agent', 'create', 'helper', '--board', 'mine']);
      await home.run(['server', 'stop']);
      await team.restart();
      const { stdout, stderr } = await home.shell(
        `printf %s '${team.dana.token}' | service login ${team.url} --store file --json`,
      );
      expect(stderr).to.equal('');
      expect(JSON.parse(stdout)).to.include({ replaced: false });
      for (const flags of [[], ['--server', team.url]]) {
        const { boards, actor } = await home.json(['board', 'list', ...flags]);
        expect(boards.map(({ name }: { name: string }) => name)).to.deep.equal(['ours']);
        expect(actor.name).to.equal((await team.dana.ok('getMe')).name);
      }
      const own = await home.run(['board', 'list', '--server', 'local', '--json']);
      expect(JSON.parse(own.stdout).error.code).to.equal('address_in_use');
      await team.close();
      expect((await home.json(['whoami', '--as', 'helper'])).me.name).to.equal('helper');
      expect((await home.json(['board', 'list', '--server', 'local'])).boards[0].name).to.equal('mine');
      const saved = JSON.parse(readFileSync(home.path('config', 'credentials.json'), 'utf8'));
      expect(Object.values(saved.servers as Record<string, { mode: string }>).map(({ mode }) => mode)).to.have.members([
        'local',
        'team',
      ]);
    } finally {
      await home.close();
      await team.restart();
      await team.stop();
    }
  });

  it('is not replaced where it runs on the data folder of the local one, in an older version', async () => {
    const home = new Home();
    const data = home.path('data');
    const listen = `127.0.0.1:${await freePort()}`;
    const args = ['--public-url', 'https://team.example', '--data', data, '--listen', listen, '--admin', 'ana'];
    const team = home.start(['serve', '--team', ...args]);
    try {
      const printed = collect(team);
      await until('the server listens', () => printed().stderr.includes('"listening"'));
      const file = join(data, 'server.pid');
      writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), version: '0.0.1' }));
      const { stdout } = await home.run(['board', 'list', '--json']);
      expect(JSON.parse(stdout).error).to.include({ code: 'server_not_running' });
      expect([team.exitCode, home.serverPid()]).to.deep.equal([null, team.pid]);
      const { checks } = JSON.parse((await home.run(['doctor', '--json'])).stdout);
      const found = checks.find(({ name }: { name: string }) => name === 'local server');
      expect(found).to.deep.include({
        level: 'ok',
        message: 'a team’s server, https://team.example, runs on its data',
      });
      home.program('claude', 'echo 2.1.300');
      await home.json(['init', '--yes']);
      const hooks = readFileSync(join(home.dir, '.claude', 'settings.json'), 'utf8');
      const daemon = await home.json(['daemon', 'start']);
      for (const command of [
        ['server', 'restart'],
        ['server', 'stop'],
        ['uninstall', '--yes'],
        ['uninstall', '--data', '--yes'],
      ]) {
        const refused = JSON.parse((await home.run([...command, '--json'])).stdout);
        const what = command.join(' ');
        expect([refused.error?.code, team.exitCode], what).to.deep.equal(['server_unexpected', null]);
        expect(await home.json(['daemon', 'start']), what).to.deep.include({ started: false, pid: daemon.pid });
        expect(readFileSync(join(home.dir, '.claude', 'settings.json'), 'utf8'), what).to.equal(hooks);
      }
    } finally {
      await home.close();
    }
  });

  it('is that very one where its own key is used: it stays what it was', async () => {
    const home = new Home();
    try {
      await home.json(['board', 'create', 'mine', '--no-link']);
      const { url } = (await home.json(['whoami'])).server;
      const { stdout } = await home.shell(`service login ${url} --json <"$SERVICE_HOME/data/local-key"`);
      expect(JSON.parse(stdout).stored).to.equal('local-file');
      expect((await home.json(['servers'])).servers).to.have.length(1);
      expect((await home.json(['board', 'list', '--server', 'local'])).boards[0].name).to.equal('mine');
    } finally {
      await home.close();
    }
  });
});
