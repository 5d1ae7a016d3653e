/** Signing in, and the servers a machine knows. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../support/free-port.ts';
import { Home } from './support/home.ts';
import { type Hosted, hosted } from './support/hosted.ts';
import { LossyNetwork } from './support/lossy.ts';
import { homeWithBoard } from './support/shared.ts';

describe('servers', () => {
  const home = homeWithBoard('demo', { apart: true });
  let other: Home;
  before(() => {
    other = new Home();
  });
  after(() => other.close());

  it('saves a key that works, and says where', async () => {
    const { server } = await home().json(['whoami']);
    const key = readFileSync(home().path('data', 'local-key'), 'utf8');
    const result = await other.shell(`printf '%s' "$KEY" | service login ${server.url}`, { env: { KEY: key } });
    expect(result.stderr).to.match(/^Saved in \/.*credentials\.json \(mode 0600\): no system keychain here\.\n/);
    expect(result.stdout).to.match(/^Signed in to http:\S+ as [a-z0-9-]+ \(admin\)/);
    expect((await other.json(['board', 'list'])).boards[0].name).to.equal('demo');
    const { servers } = await other.json(['servers', 'list']);
    expect(servers).to.have.length(1);
    expect(servers[0]).to.include({ url: server.url, default: true, key: 'file' });
  });

  it('are called as this machine likes, each by another name', async () => {
    const { url, name } = (await other.json(['servers', 'list'])).servers[0];
    const named = await other.json(['servers', 'name', url, 'work']);
    expect([named.previous, named.server.name, named.server.url]).to.deep.equal([name, 'work', url]);
    expect((await other.json(['board', 'list', '--server', 'work'])).boards[0].name).to.equal('demo');
    for (const [args, code] of [
      [['work', 'Not a name'], 'invalid_request'],
      [['work', 'local'], 'invalid_request'],
      [['nowhere', 'there'], 'server_unknown'],
    ] as const) {
      const refused = await other.run(['servers', 'name', ...args, '--json']);
      expect(JSON.parse(refused.stdout).error.code, args.join(' ')).to.equal(code);
    }
    expect((await other.json(['servers', 'name', 'work', name])).previous).to.equal('work');
  });

  it('are asked all at once for boards and agents; one that does not answer does not hide the others', async () => {
    await other.json(['board', 'create', 'own', '--server', 'local', '--no-link']);
    await other.json(['agent', 'create', 'helper', '--server', 'local', '--board', 'own']);
    const remote = (await home().json(['whoami'])).server.url;
    type Listed = { name: string; url: string; boards?: { name: string }[]; error?: { code: string } };
    const list = async () => {
      const { servers, boards } = await other.json(['board', 'list', '--all-servers']);
      return {
        servers: servers.map((one: Listed) => [one.url, one.boards?.map(({ name }) => name) ?? one.error?.code]),
        boards: boards.map(({ name }: { name: string }) => name),
      };
    };
    const local = (await other.json(['whoami', '--server', 'local'])).server.url;
    const seats = async (server: string) =>
      /^Seats +(.*)$/m.exec((await other.run(['status', '-s', server])).stdout)?.[1];
    expect([await seats('local'), await seats(remote)]).to.deep.equal(['helper on own', 'helper on own at local']);
    expect(await list()).to.deep.equal({
      servers: [
        [local, ['own']],
        [remote, ['demo']],
      ],
      boards: ['own', 'demo'],
    });
    const { agents, servers } = await other.json(['agents', '--all-servers']);
    expect(agents.map(({ name }: { name: string }) => name)).to.deep.equal(['helper']);
    expect(servers).to.have.length(2);
    const { stdout } = await other.run(['agents', '--all-servers']);
    expect(stdout).to.equal(
      [
        `${local} · 1`,
        'NAME    BOARD  ROLE    STATE         DELIVERY',
        'helper  own    member  disconnected  focused',
        '',
        `${remote} · 0`,
        'Put one onto a board: service agent create NAME --board BOARD --server 127-0-0-1',
        '',
      ].join('\n'),
    );
    await other.run(['server', 'stop']);
    expect(await list()).to.deep.equal({
      servers: [
        [local, 'server_not_running'],
        [remote, ['demo']],
      ],
      boards: ['demo'],
    });
    expect((await other.run(['boards', '--all-servers'])).stdout).to.include(
      `${remote} · 1\nNAME  ACCESS  PEOPLE  AGENTS\ndemo`,
    );
    await home().run(['server', 'stop']);
    const none = await other.run(['boards', '--all-servers', '--json']);
    expect(JSON.parse(none.stdout).error.code).to.equal('server_unreachable');
    expect(none.code).to.equal(8);
    expect((await other.run(['boards', '--all-servers', '--as', 'helper'])).code).to.equal(5);
    await home().json(['whoami']);
  });

  it('refuses what is no key, and a key that does not work, and saves nothing', async () => {
    const { server } = await home().json(['whoami']);
    const fresh = new Home();
    try {
      const none = await fresh.shell(`printf nonsense | service login ${server.url} --json`);
      expect(JSON.parse(none.stdout).error.code).to.equal('key_invalid');
      expect(none.code).to.equal(4);
      const wrong = await fresh.shell(`printf 'abh_${'x'.repeat(43)}' | service login ${server.url} --json`);
      expect(wrong.code).to.equal(4);
      expect((await fresh.json(['servers', 'list'])).servers).to.deep.equal([]);
    } finally {
      await fresh.close();
    }
  });

  it('fails where only the keychain would do and there is none', async () => {
    const { server } = await home().json(['whoami']);
    const key = readFileSync(home().path('data', 'local-key'), 'utf8');
    const script = `printf '%s' "$KEY" | service login ${server.url} --json`;
    const result = await other.shell(script, { env: { KEY: key, SERVICE_KEYSTORE: 'keychain' } });
    expect(JSON.parse(result.stdout).error.code).to.equal('keychain_unavailable');
    expect(result.code).to.equal(4);
  });

  it('forgets a server, but not the tokens of agents without being sure', async () => {
    await home().json(['agent', 'create', 'codex']);
    const asked = await home().run(['servers', 'forget', 'local', '--json']);
    const { error } = JSON.parse(asked.stdout);
    expect(error.code).to.equal('confirmation_required');
    expect(error.message).to.include('codex on demo');
    expect(asked.code).to.equal(2);
    await home().json(['servers', 'forget', 'local', '--yes']);
    expect((await home().run(['say', 'x', '--as', 'codex'])).stderr).to.include('agent_seat_elsewhere');
    expect((await home().json(['say', 'the person goes on'])).message.seq).to.be.greaterThan(3);
  });

  it('are not confused: a folder linked to an unknown address is not taken for one of the local server', async () => {
    const { server } = await home().json(['whoami']);
    const link = (url: string) =>
      writeFileSync(join(home().work, '.service'), JSON.stringify({ server: url, board: 'demo' }));
    link(`http://127.0.0.1:${await freePort()}`);
    const stranger = await home().run(['read', '--json']);
    expect(JSON.parse(stranger.stdout).error.code).to.equal('server_unknown');
    expect(stranger.code).to.equal(1);
    link(server.url);
    const moved = { SERVICE_LOCAL_ADDR: `127.0.0.1:${await freePort()}` };
    await home().run(['server', 'stop']);
    expect((await home().json(['read'], { env: moved })).server.url).to.equal(`http://${moved.SERVICE_LOCAL_ADDR}`);
    await home().run(['server', 'stop']);
  });

  it('of this machine’s own is found by any address that it had, whichever way that is named', async () => {
    const between = { SERVICE_LOCAL_ADDR: `127.0.0.1:${await freePort()}` };
    await home().json(['whoami'], { env: between });
    await home().run(['server', 'stop']);
    const env = { SERVICE_LOCAL_ADDR: `127.0.0.1:${await freePort()}` };
    const [before, now] = [`http://${between.SERVICE_LOCAL_ADDR}`, `http://${env.SERVICE_LOCAL_ADDR}`];
    writeFileSync(join(home().work, '.service'), JSON.stringify({ server: before, board: 'demo' }));
    for (const flags of [[], ['--server', before]])
      expect((await home().json(['read', ...flags], { env })).server.url, flags.join(' ')).to.equal(now);
    const { checks } = JSON.parse((await home().run(['doctor', '--json'], { env })).stdout);
    const link = checks.find(({ name }: { name: string }) => name === 'project');
    expect(link.level, link.message).to.equal('ok');
    const { stdout } = await home().run(['setup', `prq_${'0'.repeat(26)}`, '--json'], { env });
    const [, account] = JSON.parse(stdout).steps as { name: string; state: string; text: string }[];
    expect(account).to.include({ name: 'account', state: 'done' });
    expect(account!.text).to.match(new RegExp(`^@\\S+ at ${now}\\.$`));
    await home().run(['server', 'stop']);
  });

  it('sends nothing to a local server that is another than before', async () => {
    await home().json(['agent', 'create', 'late']);
    await home().run(['server', 'stop']);
    await home().shell(`mv "${home().path('data')}" "${home().path('mislaid')}"`);
    // The first starts it and the second finds it running: both say the same.
    for (const _ of [1, 2]) {
      const result = await home().run(['board', 'list', '--json']);
      expect(JSON.parse(result.stdout).error.code).to.equal('server_identity_changed');
    }
    expect((await home().json(['status'])).problem.code).to.equal('server_identity_changed');
    await home().json(['login', 'local']);
    expect((await home().json(['board', 'list'])).boards).to.deep.equal([]);
  });

  it('keeps the seats of the one before, sends them nowhere, and has them again once it is back', async () => {
    const saved = () => readFileSync(home().path('config', 'credentials.json'), 'utf8');
    const entry = () => Object.values(JSON.parse(saved()).servers as Record<string, { seats: object }>)[0];
    expect(Object.keys(entry()?.seats ?? {})).to.have.length(0);
    const lost = await home().run(['say', 'x', '--as', 'late', '--json']);
    expect(JSON.parse(lost.stdout).error.code).to.equal('agent_seat_elsewhere');
    await home().json(['board', 'create', 'fresh', '--no-link']);
    await home().json(['agent', 'create', 'newer', '--board', 'fresh']);
    await home().run(['server', 'stop']);
    await home().shell(`mv "${home().path('data')}" "${home().path('newer')}"`);
    await home().shell(`mv "${home().path('mislaid')}" "${home().path('data')}"`);
    await home().json(['login', 'local']);
    expect((await home().json(['whoami', '--as', 'late'])).me.name).to.equal('late');
    expect(saved()).to.include('"newer"');
  });
});

describe('a server at two addresses', () => {
  let at: Hosted;
  let network: LossyNetwork;
  before(async () => {
    at = await hosted();
    network = await LossyNetwork.to(at.url);
  });
  after(async () => {
    network.close();
    await at.close();
  });

  it('is two, each with its own name, seats and key', async () => {
    const { home: desk, url, server } = at;
    await desk.json(['board', 'create', 'demo', '--no-link']);
    const env = { KEY: server.dana.token ?? '' };
    await desk.shell(`echo "$KEY" | service login ${network.url} --store file`, { env });
    expect((await desk.json(['servers', 'name', network.url, 'second'])).server.url).to.equal(network.url);
    await desk.json(['agent', 'create', 'codex', '--board', 'demo', '--server', 'second']);
    const list = async () =>
      (await desk.json(['servers'])).servers.map(({ url, seats }: { url: string; seats: number }) => [url, seats]);
    expect(await list()).to.deep.equal([
      [url, 0],
      [network.url, 1],
    ]);
    await desk.json(['servers', 'forget', 'second', '--yes']);
    expect(await list()).to.deep.equal([[url, 0]]);
    expect((await desk.json(['whoami'])).server.url).to.equal(url);
  });

  it('keeps nobody waiting for the others: all are asked at the same time', async () => {
    const { home: desk, url, server } = at;
    const other = await LossyNetwork.to(url);
    try {
      for (const { url } of [network, other])
        await desk.shell(`echo "$KEY" | service login ${url} --store file`, { env: { KEY: server.dana.token ?? '' } });
      // The one that is asked first answers only once the other was asked too.
      const asked = new Promise<'pass'>((resolve) => {
        other.decide = () => {
          resolve('pass');
          return 'pass';
        };
      });
      network.decide = () => asked;
      for (const list of [['board', 'list'], ['agents']]) {
        const { servers } = await desk.json([...list, '--all-servers', '--timeout', '5']);
        expect(servers.map(({ url, error }: { url: string; error?: object }) => [url, error])).to.deep.equal(
          [url, network.url, other.url].map((one) => [one, undefined]),
        );
      }
    } finally {
      network.decide = () => 'pass';
      other.close();
    }
  });
});
