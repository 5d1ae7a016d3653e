/** The budget of an agent on the command line: shown, set, used up, told, released. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { startTestServer } from '../support/server.ts';
import { collect, finished, Home, until } from './support/home.ts';
import { type Hosted, hosted } from './support/hosted.ts';
import { Stranger } from './support/stranger.ts';

describe('the budget of an agent', () => {
  let home: Home;
  before(async () => {
    home = new Home();
    await home.serve();
    await home.json(['board', 'create', 'demo', '--no-link']);
    await home.json(['agent', 'create', 'bot', '--board', 'demo']);
    await home.json(['agent', 'create', 'other', '--board', 'demo']);
  });
  after(() => home.close());

  const text = async (args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await home.run(args);
    expect(code, stderr).to.equal(0);
    return stdout;
  };
  const say = () => home.json(['say', 'look', '-b', 'demo', '--as', 'other', '--to', '@bot', '--no-notes']);

  it('is shown as it is usually', async () => {
    expect(await text(['agent', 'budget', 'bot'])).to.equal(
      "Wakes of bot on demo by agents: 40/10m, 400/24h\nAgents' messages wake it.\n",
    );
  });

  it('is set with times and a cost, and taken off', async () => {
    expect(await text(['agent', 'budget', 'bot', '--wakes', '5/1h', '--cost', '2.50/24h'])).to.equal(
      "Wakes of bot on demo by agents: 5/1h · cost $2.5/24h\nAgents' messages wake it.\n",
    );
    expect((await home.json(['agent', 'budget', 'bot'])).budget).to.deep.equal({
      wakes: [{ count: 5, seconds: 3_600 }],
      cost: { usd: 2.5, seconds: 86_400 },
    });
    expect(await text(['agent', 'budget', 'bot', '--off', '--cost', 'off'])).to.equal(
      "Wakes of bot on demo by agents: without limit\nAgents' messages wake it.\n",
    );
  });

  it('that is used up is told to the agent and its person, who releases it', async () => {
    await text(['agent', 'budget', 'bot', '--wakes', '1/10m']);
    await say();
    await text(['inbox', '--as', 'bot']);
    await say();
    expect(await text(['inbox', '--as', 'bot', '--peek'])).to.match(
      /^service: Messages of agents do not wake you until \S+ \S+; those of people do\.\n/,
    );
    const inbox = await text(['inbox']);
    expect(inbox).to.match(
      /bot is paused until .* UTC: agents' messages\s+have used up its wakes\. People still wake it/,
    );
    expect(inbox).to.include('Next: service agent release bot --board demo');
    expect(await text(['agent', 'release', 'bot', '--until-tomorrow'])).to.match(
      /\nPaused until .*; people still wake it\.\n$/,
    );
    expect(await text(['agent', 'release', 'bot'])).to.equal(
      "Wakes of bot on demo by agents: 1/10m\nAgents' messages wake it.\n",
    );
    expect(await text(['inbox', '--as', 'bot', '--peek'])).not.to.include('do not wake you');
  });

  it('says that what its program reads has to be acknowledged, where it never is', async () => {
    const { agent } = await home.json(['agent', 'create', 'reader', '--board', 'demo']);
    const { message } = await home.json(['say', 'read this', '-b', 'demo', '--to', '@reader', '--no-notes']);
    const saved = JSON.parse(readFileSync(home.path('config', 'credentials.json'), 'utf8')) as {
      servers: Record<string, { seats: Record<string, { token: string }> }>;
    };
    const [[url, { seats }]] = Object.entries(saved.servers) as [[string, (typeof saved.servers)[string]]];
    for (let n = 0; n <= 40; n++)
      await fetch(`${url}/v1/me/inbox?wait=1`, { headers: { Authorization: `Bearer ${seats[agent.id]!.token}` } });
    expect(await text(['agent', 'budget', 'reader'])).to.match(
      /\nPaused until .*, or until its program acknowledges what it reads \(service inbox ack\); people still wake it\.\n$/,
    );
    expect(await text(['inbox', '--as', 'reader', '--peek'])).to.match(
      new RegExp(
        `^service: Messages of agents do not wake you until .*, or until you acknowledge what you read: service inbox ack ${message.seq} --as reader\n`,
      ),
    );
    expect(await text(['inbox', '--as', 'reader', '--wait', '1'])).to.match(
      /^service: Messages of agents do not wake you until .*, or until you acknowledge what you read: service inbox --as reader\n/,
    );
    expect(await text(['inbox', '--as', 'reader'])).not.to.include('do not wake you');
    expect(await text(['agent', 'budget', 'reader'])).to.include("\nAgents' messages wake it.\n");
  });

  it('names what it takes where something else is typed', async () => {
    for (const [flag, value] of [
      ['--wakes', 'many'],
      ['--wakes', '4/'],
      ['--wakes', '0/1h'],
      ['--wakes', '1/1s'],
      ['--wakes', '1/31d'],
      ['--wakes', '1/1h,2/2h,3/3h'],
      ['--cost', '0/1h'],
      ['--cost', '1/59s'],
    ] as const) {
      const { code, stderr } = await home.run(['agent', 'budget', 'bot', flag, value]);
      expect([value, code, stderr.includes(`${flag} takes`)]).to.deep.equal([value, 2, true]);
    }
  });

  it('is not known to a server that has none, which is said', async () => {
    const info = { features: ['search'], version: '0.0.1', id: 'mem_1', name: 'far', board: 'demo' };
    const old = await Stranger.listen(info);
    const env = { SERVICE_SERVER: old.url, SERVICE_TOKEN: `abh_${'A'.repeat(43)}`, SERVICE_BOARD: 'demo' };
    const { stdout } = await home.run(['agent', 'budget', 'far', '--json'], { env });
    old.close();
    const { error } = JSON.parse(stdout);
    expect([error.code, error.details?.feature]).to.deep.equal(['server_outdated', 'brakes']);
  });

  it('is set, and released, where the agent is meant that is elsewhere, by its board or its server', async () => {
    await text(['board', 'create', 'far', '--no-link']);
    await text(['agent', 'create', 'bot', '--board', 'far']);
    const path = home.path('config', 'credentials.json');
    const saved = JSON.parse(readFileSync(path, 'utf8'));
    for (const { seats } of Object.values(saved.servers) as { seats: Record<string, { board: string }> }[])
      for (const [id, { board }] of Object.entries(seats)) if (board === 'far') delete seats[id];
    writeFileSync(path, JSON.stringify(saved));
    const server = await startTestServer('sqlite');
    try {
      const { token } = server.dana;
      await server.dana.ok('createBoard', { body: { name: 'demo' } });
      await server.dana.ok('joinBoard', { body: { board: 'demo', name: 'bot', role: 'member' } });
      await home.shell(`printf %s '${token}' | service login ${server.url} --store file`);
      for (const [whose, on] of [
        [['bot@far', '--server', 'local'], 'far'],
        [['bot', '--board', 'far', '--server', 'local'], 'far'],
        [['bot', '--board', 'demo', '--server', server.url], 'demo'],
        [['bot@demo', '--server', server.url], 'demo'],
      ] as const) {
        expect(await text(['agent', 'budget', ...whose, '--wakes', '7/1h'])).to.match(
          new RegExp(`^Wakes of bot on ${on} by agents: 7/1h\n`),
        );
        const { budget } = await home.json(['agent', 'release', ...whose]);
        expect(budget.wakes).to.deep.equal([{ count: 7, seconds: 3_600 }]);
        const [name, ...where] = whose;
        expect(await text(['agent', 'delivery', 'humans', '--as', name, ...where])).to.include(`bot on ${on}: humans`);
      }
      expect(await text(['agent', 'budget', 'bot'])).to.include('bot on demo by agents: 1/10m');
      const midturn = ['agent', 'midturn', 'my-agents', '--server', 'local'];
      for (const whose of [
        ['--as', 'bot', '--board', 'far'],
        ['--as', 'bot@far'],
      ])
        expect((await home.run([...midturn, ...whose])).stderr).to.match(
          /\(agent_seat_elsewhere\): .*\nHint: Run it on the machine that holds its token\n/,
        );
      const { id } = (await home.json(['board', 'show', '-b', 'far', '--server', 'local'])).board_record;
      const byId = ['agent', 'budget', 'bot@far', '--board', id, '--server', 'local'];
      expect(await text(byId)).to.match(/^Wakes of bot on far by agents: 7\/1h\n/);
      const two = await home.run(['agent', 'release', 'bot@demo', '--board', 'far']);
      expect([two.code, two.stderr.includes('Two boards are named, demo and far.')]).to.deep.equal([2, true]);
    } finally {
      await server.stop();
    }
  });
});

describe('an inbox that is followed', () => {
  let at: Hosted;
  before(async () => {
    at = await hosted();
  });
  after(() => at.close());

  it('says once that the agent is paused, in its session too', async () => {
    const { home, server } = at;
    await home.json(['board', 'create', 'demo', '--no-link']);
    for (const name of ['bot', 'other']) await home.json(['agent', 'create', name, '--board', 'demo']);
    await home.json(['agent', 'budget', 'bot', '--wakes', '1/24h']);
    await home.json(['say', 'look', '-b', 'demo', '--as', 'other', '--to', '@bot', '--no-notes']);
    await home.json(['inbox', '--as', 'bot']);
    for (const env of [{}, { SERVICE_SESSION: 'claude-code:one' }] as Record<string, string>[]) {
      const following = home.start(['inbox', '--follow', '--as', 'bot', '--json'], { env });
      const printed = collect(following);
      for (let n = 0; n < 3; n++) {
        // Its messages and its notices.
        await until('it waits', () => server.clock.waiting(50_000) === 2);
        server.clock.advance(50_000);
      }
      await home.json(['say', 'Go on', '-b', 'demo', '--to', '@bot', '--no-notes']);
      await until('it goes on', () => printed().stdout.includes('Go on'));
      following.kill('SIGINT');
      await finished(following);
      expect(printed().stderr).to.match(/^Messages of agents do not wake you until \S+ \S+; those of people do\.\n$/);
      await until('nobody waits', () => server.clock.waiting(50_000) === 0);
    }
  });
});
