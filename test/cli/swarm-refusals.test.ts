/** What a swarm is refused for, before anything is made; and which swarm, seat and launcher are meant. */
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { findProgram } from '../../src/harness/programs.ts';
import { type Home, until } from './support/home.ts';
import { addProfile, type TestLauncher } from './support/launched.ts';
import { BOT, swarmHome } from './support/swarm-home.ts';

describe('a swarm', () => {
  let home: Home;
  let launcher: TestLauncher;
  const { write, errorOf, unserved } = swarmHome((world) => {
    ({ home, launcher } = world);
  });

  it('is a person’s: no session and no agent starts, stops or sees one', async () => {
    const world = unserved();
    world.write(BOT);
    const inside = { CLAUDECODE: '1' };
    for (const verb of ['up', 'ps', 'down', 'list', 'show'])
      for (const [args, env] of [
        [[], inside],
        [['--as', 'bot'], {}],
        [[], { SERVICE_AGENT: 'bot' }],
      ] as [string[], Record<string, string>][]) {
        const { exit, code, hint } = await world.errorOf(['swarm', verb, ...args], env);
        expect([exit, code], verb).to.deep.equal([5, 'human_command_in_session']);
        expect(hint).to.equal(`Ask your person to run: service swarm ${verb} --json`);
      }
    expect([world.launcher.asked(), existsSync(world.home.path('data'))]).to.deep.equal([[], false]);
  });

  const wrong: [what: string, fields: string, code: string, exit: number, message: string][] = [
    ['an unknown harness', 'harness: claud-code', 'invalid_request', 2, 'did you mean claude-code'],
    ['a runner without a program', 'harness: command', 'invalid_request', 2, 'agents[0].args is missing'],
    [
      'a model of a program of one’s own',
      'harness: command, args: [cat], model: x',
      'invalid_request',
      2,
      'agents[0].model is for agent programs; put it into args',
    ],
    ['an answer of a terminal', 'harness: mine, launcher: local, reply: true', 'invalid_request', 2, 'agents[0].reply'],
    ['a launcher that is not there', 'harness: codex, launcher: none', 'launcher_failed', 1, 'service-launcher-none'],
    ['a terminal that is none', 'harness: mine, launcher: headless', 'mode_unsupported', 2, 'headless cannot run mine'],
    ['a program that is not there', 'harness: codex, launcher: local', 'start_failed', 1, 'no program codex on PATH'],
    [
      'a file that is none',
      'harness: command, args: [./none.sh]',
      'start_failed',
      1,
      'work/none.sh is no file that may be run',
    ],
    ['a folder that is not there', 'harness: command, args: [cat], dir: nowhere', 'start_failed', 1, 'nowhere'],
    [
      'a folder whose name is too long for one',
      `harness: command, args: [cat], dir: ${'a'.repeat(300)}`,
      'start_failed',
      1,
      'There is no folder',
    ],
  ];
  it('is refused before anything is made, and says why', async () => {
    addProfile(home, 'mine', { interactive: { start: ['cat', '{prompt}'] } });
    for (const [what, fields, code, exit, message] of wrong) {
      write(`board: demo\nagents:\n  - {name: bot, ${fields}}\n`);
      const error = await errorOf(['swarm', 'up', '--yes']);
      expect([error.code, error.exit], what).to.deep.equal([code, exit]);
      expect(error.message, what).to.include(message);
      expect(error.hint, what).not.to.equal('');
    }
    expect((await home.json(['board', 'list'])).boards).to.deep.equal([]);
    write('board: x\n');
    const { code, exit, details } = await errorOf(['swarm', 'up', '--yes']);
    expect([code, exit, details.lines.length]).to.deep.equal(['invalid_request', 2, 2]);
    write(BOT);
    const stranger = await errorOf(['swarm', 'up', '--yes', '--only', 'other']);
    expect([stranger.exit, stranger.hint]).to.deep.equal([2, 'It has bot']);
  });

  it('sends nothing to a server that this machine does not know', async () => {
    write(`server: https://elsewhere.example.com\n${BOT}`);
    expect((await errorOf(['swarm', 'up', '--yes'])).code).to.equal('server_unknown');
    write(BOT);
    const token = { SERVICE_TOKEN: `abh_${'x'.repeat(43)}`, SERVICE_SERVER: 'https://elsewhere.example.com' };
    const { exit, message } = await errorOf(['swarm', 'up', '--yes'], token);
    expect([exit, message.startsWith('With SERVICE_TOKEN nothing is saved')]).to.deep.equal([2, true]);
    expect(launcher.asked('start')).to.deep.equal([]);
  });

  it('finds a seat again whose token was never saved, and has none of somebody else, or of the past', async () => {
    write(BOT);
    const { agents, seats_added: added } = await home.json(['swarm', 'up', '--yes']);
    expect(added).to.deep.equal(['bot']);
    await home.json(['swarm', 'down']);
    const path = home.path('config', 'credentials.json');
    const saved = JSON.parse(readFileSync(path, 'utf8'));
    const [entry] = Object.values(saved.servers) as { seats: object }[];
    entry!.seats = {};
    writeFileSync(path, JSON.stringify(saved));
    const again = await home.json(['swarm', 'up', '--yes']);
    expect([again.agents[0].seat, again.agents[0].seated]).to.deep.equal([agents[0].seat, true]);
    expect((await home.json(['board', 'agents', '-b', 'demo'])).members).to.have.length(1);

    await home.json(['agent', 'remove', 'bot', '--board', 'demo', '--yes']);
    // The command also takes the seat's token off this machine: which of both the daemon sees first is open.
    const ends = ['agent_removed', 'unauthorized'];
    const told = async () => ends.includes((await home.json(['swarm', 'ps'])).agents[0].blocked);
    await until('the end of the seat', told);
    await home.json(['swarm', 'down']);
    const removed = await errorOf(['swarm', 'up', '--yes']);
    expect([removed.exit, removed.code, removed.hint]).to.deep.equal([
      4,
      'agent_removed',
      'Give the agent another name in service.yaml',
    ]);
    await home.json(['agent', 'create', 'taken', '--board', 'demo']);
    const now = JSON.parse(readFileSync(path, 'utf8'));
    (Object.values(now.servers) as { seats: object }[])[0]!.seats = {};
    writeFileSync(path, JSON.stringify(now));
    write('board: demo\nagents:\n  - {name: taken, harness: command, launcher: local, args: [cat]}\n');
    const taken = await errorOf(['swarm', 'up', '--yes']);
    expect([taken.exit, taken.code]).to.deep.equal([7, 'name_taken']);
  });

  it('has a name, by which it is meant from anywhere; its file may be gone', async () => {
    write(BOT);
    write(BOT.replace('demo', 'other'), 'other.yaml');
    expect((await errorOf(['swarm', 'ps', 'demo'])).message).to.equal('There is no swarm demo on this machine.');
    const { swarm } = await home.json(['swarm', 'up', '--yes']);
    await home.json(['swarm', 'up', '--yes', '--file', 'other.yaml']);
    const { swarms } = await home.json(['swarm', 'list']);
    expect(swarms.map(({ board, agents }: never) => [board, agents])).to.deep.equal([
      ['demo', ['bot']],
      ['other', ['bot']],
    ]);
    expect((await errorOf(['swarm', 'up', '--yes', '-b', 'other'])).hint).to.equal(
      'Leave --board out, or change the file',
    );
    expect((await home.json(['swarm', 'ps', '-b', 'other'])).board).to.equal('other');
    const elsewhere = { cwd: home.dir };
    for (const name of [swarm, 'demo'])
      expect((await home.json(['swarm', 'ps', name], elsewhere)).swarm).to.equal(swarm);
    expect((await home.run(['swarm', 'ps'], elsewhere)).code).to.equal(2);
    write(BOT.replace('name: bot', 'name: second'));
    const { agents } = await home.json(['swarm', 'ps']);
    expect(agents.map(({ name, state }: never) => [name, state])).to.deep.equal([
      ['second', 'not_started'],
      ['bot', 'running'],
    ]);
    const shown = await home.json(['swarm', 'show', 'demo'], elsewhere);
    expect(shown.agents).to.have.length(1);
    expect(shown.agents[0]).to.include({
      name: 'second',
      launcher: 'local',
      mode: 'headless',
      seat: null,
      installed: true,
    });
    expect(shown.agents[0].argv.slice(-6)).to.deep.equal(['--as', 'second@demo', '--harness', 'command', '--', 'cat']);
    const lines = (await home.shell('service swarm list | tail -n +2 | wc -l; service swarm ps --ndjson | wc -l'))
      .stdout;
    expect(lines.trim().split(/\s+/)).to.deep.equal(['2', '2']);
  });

  it('runs a program that is named by a path from the folder of its file, wherever it is started from', async () => {
    const paths = {
      './run.sh': 'work/run.sh',
      'bin/run.sh': 'work/bin/run.sh',
      '../run.sh': 'run.sh',
      '~/run.sh': 'run.sh',
    };
    // Of the same name on PATH, and meant by none of these.
    home.program('run.sh', 'exit 1');
    mkdirSync(join(home.work, 'bin'));
    for (const [word, file] of Object.entries(paths)) {
      writeFileSync(join(home.dir, file), '#!/bin/sh\n', { mode: 0o755 });
      write(`board: demo\nagents:\n  - {name: bot, harness: command, dir: bin, args: ['${word}', ./data]}\n`);
      const { agents } = await home.json(['swarm', 'show', '-F', join(home.work, 'service.yaml')], { cwd: home.dir });
      expect([agents[0].installed, agents[0].argv.slice(-2)], word).to.deep.equal([
        true,
        [join(home.dir, file), './data'],
      ]);
    }
  });

  it('says when what runs is not what its file says now', async () => {
    write(BOT);
    await home.json(['swarm', 'up', '--yes']);
    write(BOT.replace('[cat]', '[cat], reply: true'));
    const { warnings, agents } = await home.json(['swarm', 'up', '--yes']);
    expect([warnings[0].code, agents[0].action]).to.deep.equal(['agent_changed', 'running']);
    expect(launcher.asked('start')).to.have.length(1);
  });

  it('names the file that was named in what its person may type next', async () => {
    write(BOT, 'team file.yaml');
    const up = ['swarm', 'up', '-F', 'team file.yaml'];
    await home.json([...up, '--yes']);
    write(BOT.replace('[cat]', '[cat], reply: true'), 'team file.yaml');
    const { warnings } = await home.json(up);
    expect(warnings[0].hint).to.equal(
      "service swarm down --only bot --file 'team file.yaml' && service swarm up --only bot --file 'team file.yaml'",
    );
    home.program('deaf', 'exec sleep 100');
    addProfile(home, 'mine', { interactive: { start: ['deaf'] } });
    write('board: demo\nagents:\n  - {name: deaf, harness: mine, launcher: local}\n', 'deaf.yaml');
    const { stdout } = await home.run(['swarm', 'up', '-F', 'deaf.yaml', '--wait', '0']);
    expect(stdout).to.include('How they stand: service swarm ps --file deaf.yaml. What');
  });

  it('tells apart what several files have started on one board', async () => {
    const names = async (...args: string[]) =>
      (await home.json(['swarm', ...args])).agents.map(({ name }: { name: string }) => name);
    const other = join(home.work, 'other');
    mkdirSync(other);
    write(BOT);
    write(BOT.replace('name: bot', 'name: second'), join('other', 'service.yaml'));
    await home.json(['swarm', 'up', '--yes']);
    const there = await home.run(['swarm', 'up', '--yes', '--json'], { cwd: other });
    expect(JSON.parse(there.stdout).seats_added).to.deep.equal(['second']);
    expect((await home.json(['swarm', 'up'])).agents[0].action, 'asks no second time').to.equal('running');
    expect(await names('ps')).to.deep.equal(['bot']);
    const [{ swarm }] = (await home.json(['swarm', 'list'])).swarms;
    expect((await home.run(['swarm', 'list'])).stdout)
      .to.include(join(home.work, 'service.yaml'))
      .and.include(join(other, 'service.yaml'));
    const down = await home.json(['swarm', 'down']);
    expect(down.agents).to.have.length(1);
    expect(down.warnings).to.deep.equal([
      {
        code: 'agents_left_alone',
        message: `Left alone, as other files started them: second (${join(other, 'service.yaml')}).`,
        hint: `To stop all: service swarm down ${swarm}`,
      },
    ]);
    expect((await home.json(['swarm', 'ps', swarm])).agents.map(({ state }: never) => state)).to.have.members([
      'exited',
      'running',
    ]);
    expect(await names('down', swarm)).to.have.members(['bot', 'second']);
  });

  it('knows its file by a link, and counts what was started from a file that is gone as its own', async () => {
    const down = async (path: string) => {
      const { agents, warnings } = await home.json(['swarm', 'down', '--file', path]);
      return [warnings, agents.map(({ name, stopped }: never) => [name, stopped])];
    };
    const [folder, link, moved] = ['folder', 'link', 'moved'].map((name) => join(home.work, name));
    mkdirSync(folder!);
    symlinkSync(folder!, link!);
    write(BOT, join('folder', 'service.yaml'));
    const up = ['swarm', 'up', '--yes', '--file', join(folder!, 'service.yaml')];
    await home.json(up);
    expect(await down(join(link!, 'service.yaml'))).to.deep.equal([undefined, [['bot', true]]]);
    await home.json(up);
    renameSync(folder!, moved!);
    expect(await down(join(moved!, 'service.yaml'))).to.deep.equal([undefined, [['bot', true]]]);
  });

  it('says what runs although it was taken out of the file, and forgets it once it is stopped', async () => {
    const second = '  - {name: second, harness: command, launcher: local, args: [cat]}\n';
    write(`${BOT}${second}`);
    await home.json(['swarm', 'up', '--yes']);
    write(BOT);
    const { warnings } = await home.json(['swarm', 'up']);
    expect(warnings).to.deep.equal([
      {
        code: 'agent_not_in_file',
        message: 'second runs, but service.yaml no longer has it.',
        hint: 'To stop it: service swarm down --only second',
      },
    ]);
    const down = await home.json(['swarm', 'down', '--only', 'second']);
    expect(down.agents[0]).to.include({ name: 'second', stopped: true, state: 'exited' });
    expect((await home.json(['swarm', 'up'])).warnings).to.equal(undefined);
    expect((await home.json(['swarm', 'list'])).swarms[0].agents).to.deep.equal(['bot']);
  });

  it('has the roles of its agents looked at before a board or a seat is made', async () => {
    const second = '  - {name: second, harness: command, launcher: local, args: [cat], role: reviewer}\n';
    write(`${BOT}${second}`);
    const none = await errorOf(['swarm', 'up', '--yes']);
    expect([none.exit, none.code, none.message]).to.deep.equal([
      1,
      'role_not_found',
      'demo has no role reviewer, which service.yaml gives second.',
    ]);
    expect(none.hint).to.include('Its roles: member. To add one: service board create demo && service board roles');
    expect((await home.json(['board', 'list'])).boards).to.deep.equal([]);
    const elsewhere = { SERVICE_SERVER: 'https://team.example.com' };
    const named = await errorOf(['swarm', 'up', '--yes', '--server', 'local'], elsewhere);
    expect(named.hint).to.match(/ create demo --server local && service board roles .* --board demo --server local$/);
    await home.json(['board', 'create', 'demo']);
    expect((await errorOf(['swarm', 'up', '--yes'])).hint).to.include('To add one: service board roles --set reviewer');
    expect((await home.json(['board', 'agents', '-b', 'demo'])).members).to.deep.equal([]);
    await home.json(['board', 'roles', '--set', 'reviewer', '--can', 'post', '--board', 'demo']);
    expect((await home.json(['swarm', 'up', '--yes'])).seats_added).to.deep.equal(['bot', 'second']);
    for (const role of ['member', 'none']) {
      write(`${BOT}${second.replace('reviewer', role)}`);
      const { warnings } = await home.json(['swarm', 'up']);
      expect(warnings.map(({ code, message }: never) => [code, message])).to.deep.equal([
        ['agent_role_differs', `second has the role reviewer on demo for life; service.yaml says ${role}.`],
      ]);
    }
  });

  it('has room as soon as some is made', async () => {
    await home.json(['board', 'create', 'demo', '--no-link']);
    for (let n = 0; n < 100; n++) await home.json(['agent', 'create', `a${n}`, '--board', 'demo']);
    write(BOT);
    expect((await errorOf(['swarm', 'up', '--yes'])).code).to.equal('limit_reached');
    expect((await errorOf(['swarm', 'up', '--yes'])).code).to.equal('limit_reached');
    await home.json(['agent', 'remove', 'a0', '--board', 'demo', '--yes']);
    const path = home.path('config', 'credentials.json');
    const full = readFileSync(path);
    for (const _ of ['made', 'found again, where its token was not saved']) {
      writeFileSync(path, full);
      expect((await home.json(['swarm', 'up', '--yes'])).seats_added).to.deep.equal(['bot']);
      await home.json(['swarm', 'down']);
    }
  });

  it('has no agent with the name of a person', async () => {
    const { board_record } = await home.json(['board', 'create', 'other', '--no-link']);
    for (const board of ['demo', 'other']) {
      write(BOT.replace('name: bot', `name: ${board_record.created_by.name}`).replace('demo', board));
      const error = await errorOf(['swarm', 'up', '--yes']);
      expect([error.exit, error.code, error.message]).to.deep.equal([
        7,
        'name_taken',
        `${board_record.created_by.name} on ${board} is the name of a person.`,
      ]);
    }
    expect((await home.json(['board', 'list'])).boards).to.have.length(1);
  });

  // As the programs of agents, tmux is tested where it is.
  if (findProgram('tmux', process.env))
    it('runs in tmux what needs a terminal, and without tmux says so', async () => {
      home.program('waits', 'exec sleep 100');
      addProfile(home, 'mine', { interactive: { start: ['waits', '{prompt}'] } });
      write('board: demo\nagents:\n  - {name: cat, harness: mine}\n');
      const without = await errorOf(['swarm', 'up', '--yes', '--wait', '0'], { PATH: join(home.dir, 'bin') });
      expect([without.exit, without.code]).to.deep.equal([1, 'host_unavailable']);
      const { agents } = await home.json(['swarm', 'up', '--yes', '--wait', '0']);
      expect(agents[0]).to.include({ state: 'running', launcher: 'tmux', mode: 'interactive' });
      const shown = await home.shell(`tmux capture-pane -p -t '${/'(.*)'/.exec(agents[0].attach)![1]}:'`);
      expect(shown.code, shown.stderr).to.equal(0);
      await home.json(['swarm', 'down']);
    });

  it('keeps its notes to itself', async () => {
    write(BOT);
    const { swarm } = await home.json(['swarm', 'up', '--yes']);
    const path = home.path('state', 'swarms', `${swarm}.json`);
    chmodSync(path, 0o644);
    expect((await errorOf(['swarm', 'ps'])).code).to.equal('credentials_unsafe');
    chmodSync(path, 0o600);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, '{"v":1}');
    expect((await errorOf(['swarm', 'up', '--yes'])).code).to.equal('config_corrupt');
    writeFileSync(path, text);
  });
});
