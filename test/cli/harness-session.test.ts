/** Commands in the session of an agent's program: it never acts as its person. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { startTestServer, type TestServer } from '../support/server.ts';
import { Home } from './support/home.ts';
import { homeWithBoard } from './support/shared.ts';

const env: Record<string, string> = { SERVICE_SESSION: 'claude-code:one' };

describe('a session of an agent’s program', () => {
  const home = homeWithBoard();

  /** Every command of a person (P) of the contract's list; those that are so with some flags only are here with these. */
  const people = [
    'agent budget codex',
    'agent create codex',
    'agent delivery all --as codex@demo -b demo',
    'agent midturn default --as=codex',
    'agent midturn owner-only',
    'agent prune',
    'agent release codex',
    'agent remove codex',
    'allowance history',
    'allowance off',
    'allowance on',
    'allowance set add-people on',
    'allowance show',
    'approval allow apr_1',
    'approval decline apr_1',
    'board ack 1',
    'board agents-add-people on',
    'board delete demo',
    'board leave',
    'board owners --add sam',
    'board policy recommended',
    'board remove sam',
    'board roles --remove writer',
    'board visibility private',
    'brief edit',
    'code guest gus',
    'connect https://team.example.com',
    'file approve a.md',
    'file edit a.md',
    'file unapprove a.md',
    'invite list',
    'invite notices',
    'invite revoke inv_1',
    'invite show inv_1',
    'key create x',
    'key delegations',
    'key end-delegation dlg_1',
    'key end-session ses_1',
    'key list',
    'key revoke x',
    'key sessions',
    'login',
    'login local',
    'login https://team.example.com --store file',
    'login --move-to file',
    'logout',
    'machine approve 4KQ-7ZX',
    'machine collect',
    'machine refuse 4KQ-7ZX',
    'machine request https://team.example.com',
    'machine show 4KQ-7ZX',
    'pairing choose prq_1 codex',
    'pairing decline prq_1',
    'people list',
    'people remove sam',
    'people rename sam kim',
    'people role maya admin',
    'profile set --display-name Maya',
    'profile show',
    'settings set --board-creation admins',
    'settings show',
    'swarm down',
    'swarm list',
    'swarm ps',
    'swarm show',
    'swarm up',
    'thread continue 1',
    'thread stop 1',
  ].map((line) => line.split(' '));

  it('runs no command of a person, whose key is not read, and says the line for the person', async () => {
    const file = home().path('data', 'local-key');
    const key = readFileSync(file);
    writeFileSync(file, 'unreadable');
    try {
      for (const args of people) {
        const refused = await home().run([...args, '--json'], { env });
        const { error } = JSON.parse(refused.stdout);
        expect([refused.code, error.code], args.join(' ')).to.deep.equal([5, 'human_command_in_session']);
        expect(error.hint, args.join(' ')).to.equal(`Ask your person to run: service ${args.join(' ')} --json`);
      }
    } finally {
      writeFileSync(file, key);
    }
  });

  it('lets its person name the agent whose delivery is set', async () => {
    const { code, stderr } = await home().run(['agent', 'delivery', 'all'], { env });
    expect(code).to.equal(5);
    expect(stderr).to.include('\nHint: Ask your person to run: service agent delivery all --as AGENT\n');
  });

  it('has nobody to act as while it has no seat, which its status tells', async () => {
    for (const args of [['whoami'], ['read'], ['say', 'hi']]) {
      const refused = await home().run([...args, '--json'], { env });
      expect([refused.code, JSON.parse(refused.stdout).error.code], args[0]).to.deep.equal([2, 'agent_not_selected']);
    }
    const status = await home().json(['status'], { env });
    expect([status.agent, status.problem.code]).to.deep.equal([null, 'agent_not_selected']);
  });

  it('acts as the seat it names', async () => {
    await home().json(['agent', 'create', 'codex', '--board', 'demo']);
    expect((await home().json(['whoami', '--as', 'codex'], { env })).me).to.include({ kind: 'agent', name: 'codex' });
  });

  it('keeps the secret of an invite to itself in the line for the person', async () => {
    const link = `https://team.example.com/join#abi_${'x'.repeat(43)}`;
    const refused = await home().run(['connect', link, '--handle', 'maya', '--yes', '--json'], { env });
    const { error } = JSON.parse(refused.stdout);
    expect([refused.code, error.code]).to.deep.equal([5, 'human_command_in_session']);
    expect(error.hint).to.equal('Ask your person to run: service connect - --handle maya --json');
  });
});

describe('a session with a seat on one of several servers', () => {
  const home = homeWithBoard('general');
  const hint = async (args: string[], session: Record<string, string> = env) => {
    const refused = await home().run([...args, '--json'], { env: session });
    const { error } = JSON.parse(refused.stdout);
    expect([refused.code, error.code], args.join(' ')).to.deep.equal([5, 'human_command_in_session']);
    return error.hint.replace('Ask your person to run: service ', '').replace(' --json', '');
  };
  let team: TestServer;
  before(async () => {
    team = await startTestServer('sqlite');
    const { url, dana } = team;
    await home().shell(`printf %s '${dana.token}' | service login ${url} --store file`);
    await home().json(['servers', 'use', url]);
    await home().json(['agent', 'create', 'cx', '--board', 'general', '--server', 'local']);
    bind('cx');
  });
  after(() => team.stop());

  /** Makes the session hold the seats of these names, as its program does. */
  function bind(...names: string[]): void {
    const path = home().path('config', 'credentials.json');
    const saved = JSON.parse(readFileSync(path, 'utf8'));
    const entries = Object.values(saved.servers) as {
      seats: Record<string, { name: string; session: string | null }>;
    }[];
    for (const seat of entries.flatMap(({ seats }) => Object.values(seats)))
      seat.session = names.includes(seat.name) ? 'claude-code:one' : null;
    writeFileSync(path, JSON.stringify(saved), { mode: 0o600 });
  }

  it('hands its person a line that means the board and server of its seat', async () => {
    writeFileSync(join(home().work, '.service'), JSON.stringify({ server: team.url, board: 'pay' }));
    const key = readFileSync(home().path('data', 'local-key'));
    writeFileSync(home().path('data', 'local-key'), 'unreadable');
    try {
      expect(await hint(['board', 'visibility', 'private', '--yes'])).to.equal(
        'board visibility private --board general --server local',
      );
      for (const [words, flags] of [
        ['-qy', ' -q'],
        ['-yqy', ' -q'],
        ['-yb general', ' -b general'],
      ] as const)
        expect(await hint(['board', 'visibility', 'private', ...words.split(' '), '-s', 'local'])).to.equal(
          `board visibility private${flags} -s local${flags.includes('-b') ? '' : ' --board general'}`,
        );
      expect(await hint(['key', 'list'])).to.equal('key list --server local');
      expect(await hint(['board', 'leave', '-s', 'local'])).to.equal('board leave -s local --board general');
      expect(await hint(['board', 'leave', '--server', team.url])).to.equal(`board leave --server ${team.url}`);
    } finally {
      writeFileSync(home().path('data', 'local-key'), key);
      rmSync(join(home().work, '.service'));
    }
  });

  it('names the agent that a command of its person is about', async () => {
    expect(await hint(['agent', 'midturn', 'owner-only', '-a', 'cx'])).to.equal('agent midturn owner-only -a cx');
    expect(await hint(['line', 'working', 'tests', '--as', 'afar'])).to.equal(
      'line working tests --as afar --board general --server local',
    );
    expect(await hint(['agent', 'delivery', 'all', '--as', 'afar'])).to.equal(
      'agent delivery all --as afar --board general --server local',
    );
    expect(await hint(['delivery', 'all', '-a', 'cx'])).to.equal('agent delivery all -a cx');
    expect(await hint(['agent', 'midturn', 'default'])).to.equal('agent midturn default --as AGENT');
  });

  it('hands on the line as it was typed while it holds several seats and names none', async () => {
    await home().json(['board', 'create', 'garden', '--no-link', '--server', 'local']);
    await home().json(['agent', 'create', 'digger', '--board', 'garden', '--server', 'local']);
    bind('cx', 'digger');
    expect(await hint(['board', 'leave'])).to.equal('board leave');
    expect(await hint(['board', 'leave', '-b', 'garden'])).to.equal('board leave -b garden --server local');
    expect(await hint(['board', 'leave', '--as', 'digger', '-b', 'garden'])).to.equal(
      'board leave -b garden --server local',
    );
    bind('cx');
  });
});

describe('a machine whose key was revoked', () => {
  const home = homeWithBoard();
  const other = new Home();
  after(() => other.close());

  it('says so in its status, with the way back in', async () => {
    const { url } = (await home().json(['whoami'])).server;
    const { key } = await home().json(['key', 'create', 'lost']);
    const signed = await other.shell(`printf '%s' "$KEY" | service login ${url}`, { env: { KEY: key.token } });
    expect(signed.code, signed.stderr).to.equal(0);
    await home().json(['key', 'revoke', 'lost', '--yes']);
    const { problem } = await other.json(['status']);
    expect(problem).to.include({ code: 'unauthorized', hint: `service login ${url}` });
  });
});
