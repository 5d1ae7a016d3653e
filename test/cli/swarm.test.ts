/** Swarms, with a true server and daemon, a launcher of the test, and stand-ins that run the hooks which service init wrote. */
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { finished, type Home, until } from './support/home.ts';
import { addProfile, LaunchedPrograms, type TestLauncher } from './support/launched.ts';
import { BOT, swarmHome } from './support/swarm-home.ts';

interface Agent {
  name: string;
  seat: string | null;
  state: string;
  by: string | null;
  seated: boolean;
  session: string | null;
  attach: string | null;
  action: string;
  problem: { code: string } | null;
}

const BOTH = `board: demo
agents:
  - {name: claude, harness: claude-code, launcher: local}
  - {name: codex, harness: codex, launcher: local}
`;

describe('service swarm', () => {
  let home: Home;
  let launcher: TestLauncher;
  const { write, errorOf, unserved } = swarmHome((world) => {
    ({ home, launcher } = world);
  });
  const byName = (agents: Agent[]) => Object.fromEntries(agents.map((agent) => [agent.name, agent]));
  const actions = (record: { agents: Agent[] }) => record.agents.map(({ name, action }) => [name, action]);
  const programs = async (...harnesses: string[]) => {
    const made = new LaunchedPrograms(home);
    await made.place(...harnesses);
    return made;
  };

  it('makes board and seats, starts each agent, and waits until its session has taken its seat by its ticket', async () => {
    const launched = await programs('claude-code', 'codex');
    const more = 'launcher: local, model: opus, args: ["{prompt}", "a b"]';
    write(
      `${BOTH.replace('launcher: local', more)}  - {name: bot, harness: command, launcher: headless, args: [cat]}\n`,
    );
    const up = await home.json(['swarm', 'up', '--yes']);
    expect([up.board_created, up.seats_added, up.timed_out]).to.deep.equal([true, ['claude', 'codex', 'bot'], false]);
    expect(actions(up)).to.deep.equal([
      ['claude', 'started'],
      ['codex', 'started'],
      ['bot', 'started'],
    ]);
    for (const { name, state, by, seated } of up.agents as Agent[])
      expect([state, by, seated], name).to.deep.equal(['running', 'launcher', true]);

    const [claude, codex] = ['claude-code', 'codex'].map(
      (harness) => launched.starts().find(({ profile }) => profile === harness)!,
    );
    expect(byName(up.agents).claude!.session).to.equal(`claude-code:${claude!.session}`);
    expect(byName(up.agents).codex!.session).to.equal(`codex:${codex!.session}`);
    // A program whose sessions may share a process is told in the prompt alone.
    expect(claude!.env).to.include({ SERVICE_AGENT: 'claude@demo' });
    expect(claude!.env.SERVICE_LAUNCH).to.match(/^lch_[0-9a-f]{24}$/);
    expect(claude!.prompt).to.match(/^You are claude \(role member\) on the board demo of http/);
    expect(claude!.prompt).not.to.include('lch_');
    expect(codex!.env).not.to.have.any.keys('SERVICE_AGENT', 'SERVICE_LAUNCH');
    expect(codex!.prompt.split('\n')[0]).to.match(
      /^You are codex .* First take your seat: service status --launch lch_[0-9a-f]{24}$/,
    );
    expect(claude!.words.slice(1)).to.deep.equal(['--model', 'opus', '{prompt}', 'a b']);
    expect(claude!.cwd).to.equal(home.work);
    expect(readdirSync(home.path('state', 'launches')), 'used tickets').to.deep.equal([]);
    expect(JSON.stringify(launcher.asked())).not.to.match(/ab[abcdhilp]_[A-Za-z0-9_-]{8,}/);
    const note = home.path('state', 'swarms', `${up.swarm}.json`);
    expect([statSync(note).mode & 0o777, /ab[abcdhilp]_/.test(readFileSync(note, 'utf8'))]).to.deep.equal([
      0o600,
      false,
    ]);

    // The ticket was used: it gives the seat to nobody else, and that is no error.
    const ticket = /lch_[0-9a-f]{24}/.exec(codex!.prompt)![0];
    const other = { CODEX_THREAD_ID: 'other', CODEX_SESSION_ID: 'other' };
    writeFileSync(join(launched.folder, 'threads', 'other'), '');
    const status = await home.json(['status', '--launch', ticket], { env: other });
    expect([status.agent, status.warnings]).to.deep.equal([null, undefined]);
    expect((await home.json(['status', '--launch', ticket])).agent).to.equal(null);
    expect((await home.run(['status', '--launch', 'lch_x'], { env: other })).code).to.equal(2);
    const part = { ...other, CODEX_THREAD_ID: 'part' };
    expect((await errorOf(['status', '--launch', ticket], part)).code).to.equal('subagent_without_seat');

    await home.json(['say', 'wake up', '-b', 'demo', '--to', '@claude', '--no-notes']);
    await until('the message in the session', () => launched.trace(claude!.session).includes('wake up'));
  });

  it('starts the server and the daemon of a machine where neither runs', async () => {
    const world = unserved();
    world.write(BOT);
    const { autostarted, seats_added } = await world.home.json(['swarm', 'up', '--yes']);
    expect([autostarted, seats_added]).to.deep.equal([['server', 'daemon'], ['bot']]);
  });

  it('is about the board of an id too, which is called by its name', async () => {
    const { board_record } = await home.json(['board', 'create', 'demo', '--no-link']);
    write(BOT.replace('demo', board_record.id));
    expect((await home.json(['swarm', 'show'])).agents[0].seat).to.equal(null);
    const up = await home.json(['swarm', 'up', '--yes', '--wait', '0']);
    expect([up.board, up.board_created, up.seats_added]).to.deep.equal(['demo', false, ['bot']]);
    expect(up.swarm).to.match(/^demo-/);
    for (const args of [[], ['-b', board_record.id], ['demo']]) {
      const { board, swarm } = await home.json(['swarm', 'ps', ...args]);
      expect([args, board, swarm]).to.deep.equal([args, 'demo', up.swarm]);
    }
    const shown = await home.json(['swarm', 'show']);
    expect([shown.board, shown.swarm]).to.deep.equal(['demo', up.swarm]);
    write(BOT.replace('demo', 'brd_01K5A0000000000000000000B1'), 'other.yaml');
    expect((await errorOf(['swarm', 'up', '--yes', '-F', 'other.yaml'])).code).to.equal('board_not_found');
  });

  it('starts nothing twice: run again, by two at once, or where a seat is held by hand', async () => {
    const launched = await programs('claude-code');
    write('board: demo\nagents:\n  - {name: claude, harness: claude-code, launcher: local}\n');
    const both = await Promise.all([home.json(['swarm', 'up', '--yes']), home.json(['swarm', 'up', '--yes'])]);
    expect(both.map((up) => up.agents[0].action).sort()).to.deep.equal(['running', 'started']);
    expect(both.flatMap((up) => up.seats_added)).to.deep.equal(['claude']);
    expect(both.map((up) => up.agents[0].seated)).to.deep.equal([true, true]);
    expect(actions(await home.json(['swarm', 'up', '--yes']))).to.deep.equal([['claude', 'running']]);
    expect([launched.starts().length, launcher.asked('start').length]).to.deep.equal([1, 1]);
    const { members } = await home.json(['board', 'agents', '-b', 'demo']);
    expect(members.map(({ name }: Agent) => name)).to.deep.equal(['claude']);

    await home.json(['agent', 'create', 'bot', '--board', 'demo']);
    home.start(['run', '--as', 'bot', '--', 'cat']);
    const held = async () => (await home.json(['daemon', 'status'])).bindings.some(bound('bot'));
    await until('the seat held by hand', held);
    write(BOT, 'hand.yaml');
    const [byHand] = (await home.json(['swarm', 'up', '--yes', '-F', 'hand.yaml'])).agents as Agent[];
    expect([byHand!.action, byHand!.by, byHand!.state]).to.deep.equal(['running', 'hand', 'running']);
    expect(launcher.asked('start')).to.have.length(1);
    const { agents } = await home.json(['swarm', 'ps', '-F', 'hand.yaml']);
    expect(byName(agents).bot).to.include({ state: 'running', by: 'hand', attach: null });
  });

  const bound =
    (name: string) =>
    ({ agent, open }: { agent: { name: string }; open?: boolean }): boolean =>
      agent.name === name && open === true;

  it('stops what it started and takes its conversations up again, without a ticket', async () => {
    const launched = await programs('claude-code', 'codex');
    write(BOTH);
    const first = byName((await home.json(['swarm', 'up', '--yes'])).agents);
    const down = await home.json(['swarm', 'down']);
    expect(down.agents.map(({ name, stopped, state }: never) => [name, stopped, state])).to.deep.equal([
      ['claude', true, 'exited'],
      ['codex', true, 'exited'],
    ]);
    const stopped = await home.json(['swarm', 'down']);
    expect(stopped.agents.map((agent: { stopped: boolean }) => agent.stopped)).to.deep.equal([false, false]);
    const up = await home.json(['swarm', 'up', '--yes']);
    expect([actions(up), up.seats_added]).to.deep.equal([
      [
        ['claude', 'resumed'],
        ['codex', 'resumed'],
      ],
      [],
    ]);
    const again = byName(up.agents);
    for (const name of ['claude', 'codex'])
      expect([again[name]!.session, again[name]!.seat], name).to.deep.equal([first[name]!.session, first[name]!.seat]);
    for (const { resumed, session, env, prompt } of launched.starts().slice(2)) {
      expect([resumed, `${env.SERVICE_LAUNCH}`, prompt.includes('lch_')]).to.deep.equal([session, 'undefined', false]);
      expect(prompt).to.match(/^You are \w+ on the board demo again\./);
    }
    // One alone.
    const one = await home.json(['swarm', 'down', 'demo', '--only', 'codex']);
    expect(one.agents.map(({ name }: Agent) => name)).to.deep.equal(['codex']);
    const { agents } = await home.json(['swarm', 'ps', 'demo']);
    expect(agents.map(({ state }: Agent) => state)).to.deep.equal(['running', 'exited']);
  });

  it('starts again what ended with the daemon, whose next one does not know yet that it is over', async () => {
    write(BOT);
    const first = (await home.json(['swarm', 'up', '--yes'])).agents[0] as Agent;
    await home.run(['daemon', 'stop']);
    await until('its end', async () => (await home.json(['swarm', 'ps'])).agents[0].state === 'exited');
    const again = (await home.json(['swarm', 'up', '--yes'])).agents[0] as Agent;
    expect([again.action, again.state, again.by, again.seated]).to.deep.equal(['started', 'running', 'launcher', true]);
    expect(again.session).not.to.equal(first.session);
  });

  it('tells the session that holds a seat from one of the former address of its server', async () => {
    write(BOT);
    const first = (await home.json(['swarm', 'up', '--yes'])).agents[0] as Agent;
    await home.run(['daemon', 'stop']);
    await until('its end', async () => (await home.json(['swarm', 'ps'])).agents[0].state === 'exited');
    // As the journal is once the saved address of a server was changed by hand.
    const journal = new Database(join(home.store, 'state', 'delivery.db'));
    for (const table of ['seats', 'bindings']) journal.exec(`UPDATE ${table} SET origin = 'http://127.0.0.1:1'`);
    journal.close();
    const up = await home.json(['swarm', 'up', '--yes', '--wait', '60']);
    const [again] = up.agents as Agent[];
    expect([up.timed_out, again!.seated]).to.deep.equal([false, true]);
    expect(again!.session).not.to.equal(first.session);
    const lacking = async () => (await home.json(['daemon', 'status'])).agents.length;
    await until('what the former one lacks', async () => (await lacking()) === 1);
    expect((await home.json(['swarm', 'ps'])).agents[0].blocked).to.equal(null);
  });

  it('waits once, not for one after the other, where its agents are by now run by hand', async () => {
    const names = ['bot', 'second', 'third'];
    const agents = names.map((name) => `  - {name: ${name}, harness: command, launcher: local, args: [cat]}\n`);
    write(`board: demo\nagents:\n${agents.join('')}`);
    await home.json(['swarm', 'up', '--yes']);
    await home.json(['swarm', 'down']);
    const held = async () => {
      const { bindings } = await home.json(['daemon', 'status']);
      return names.filter((name) => bindings.some(bound(name))).length;
    };
    await until('their ends', async () => (await held()) === 0);
    for (const name of names) home.start(['run', '--as', `${name}@demo`, '--', 'cat']);
    await until('the seats held by hand', async () => (await held()) === names.length);
    const begun = performance.now();
    const up = await home.json(['swarm', 'up', '--yes']);
    // Each alone is waited for 20 s.
    expect(performance.now() - begun).to.be.below(45_000);
    expect(up.agents.map(({ action, by }: Agent) => [action, by])).to.deep.equal(names.map(() => ['running', 'hand']));
  });

  it('begins a conversation anew that cannot be taken up again', async () => {
    const launched = await programs('claude-code');
    write('board: demo\nagents:\n  - {name: claude, harness: claude-code, launcher: local}\n');
    const first = await home.json(['swarm', 'up', '--yes']);
    await home.json(['swarm', 'down']);
    launched.forget();
    const up = await home.json(['swarm', 'up', '--yes']);
    expect([up.agents[0].action, up.agents[0].seated, up.agents[0].problem]).to.deep.equal(['started', true, null]);
    const [, lost, fresh] = launched.starts();
    expect([`claude-code:${lost!.resumed}`, fresh!.resumed]).to.deep.equal([first.agents[0].session, null]);
    expect(up.agents[0].session).to.equal(`claude-code:${fresh!.session}`);
  });

  it('says of no conversation that it begins anew where its launcher does not start it', async () => {
    await programs('claude-code');
    write('board: demo\nagents:\n  - {name: claude, harness: claude-code, launcher: local}\n');
    await home.json(['swarm', 'up', '--yes']);
    await home.json(['swarm', 'down']);
    home.program('claude', 'until [ -e "$HOME/go" ]; do sleep 0.05; done');
    const up = finished(home.start(['swarm', 'up', '--yes']));
    await until('the second start', () => launcher.asked('start').length === 2);
    launcher.behave({ start: { error: { code: 'host_unavailable', message: 'There is no host' } } });
    writeFileSync(join(home.dir, 'go'), '');
    const { stderr } = await up;
    expect(stderr).to.include('Error (host_unavailable): claude: There is no host.');
    expect(stderr).to.not.include('new one');
  });

  it('does not start again what is stopped while its seat is waited for', async () => {
    await programs('claude-code');
    write('board: demo\nagents:\n  - {name: claude, harness: claude-code, launcher: local}\n');
    await home.json(['swarm', 'up', '--yes']);
    await home.json(['swarm', 'down']);
    // It asks for something before it takes its conversation up.
    home.program('claude', 'exec tail -f /dev/null');
    const up = finished(home.start(['swarm', 'up', '--yes', '--json']));
    await until('the second start', () => launcher.asked('start').length === 2);
    expect((await home.json(['swarm', 'down'])).agents[0].stopped).to.equal(true);
    const { error } = JSON.parse((await up).stdout);
    expect([error.code, error.message, error.hint]).to.deep.equal([
      'start_failed',
      'claude was stopped while its seat was waited for.',
      'service swarm up',
    ]);
    expect((await home.json(['swarm', 'up', '--wait', '0'])).agents[0].action).to.equal('resumed');
  });

  it('starts one again that took its seat when nobody waited for that any more', async () => {
    const launched = await programs('codex');
    // A process in the background keeps its session when its terminal is gone.
    const [program, background, ends] = ['codex', 'background', 'ends'].map((name) => join(home.dir, 'bin', name));
    renameSync(program!, background!);
    const asked = 'case "$1" in --version|queue|app-server) exec background "$@";; esac';
    home.program('codex', `${asked}\ntrap 'exit 0' TERM; background "$@" & echo "kill $!" >>'${ends}'; wait`);
    write('board: demo\nagents:\n  - {name: codex, harness: codex, launcher: local}\n');
    try {
      await home.json(['swarm', 'up', '--yes', '--wait', '0']);
      await until('its seat', async () => (await home.json(['daemon', 'status'])).bindings.some(bound('codex')));
      await home.json(['swarm', 'down']);
      expect(actions(await home.json(['swarm', 'up']))).to.deep.equal([['codex', 'resumed']]);
      await until('the second start', () => launched.starts().length === 2);
    } finally {
      await home.shell(`. '${ends}'`);
    }
  });

  it('finds again what was started when nobody heard of it', async () => {
    write(BOT);
    launcher.behave({ hangs: true });
    const lost = home.start(['swarm', 'up', '--yes']);
    await until('the start', () => launcher.asked('start').length === 1);
    await until('the agent', async () => (await home.json(['daemon', 'status'])).bindings.some(bound('bot')));
    lost.kill('SIGKILL');
    await finished(lost);
    launcher.endHanging();
    launcher.behave({});
    expect((await home.json(['swarm', 'ps'])).agents[0]).to.include({
      state: 'unknown',
      blocked: 'Nobody heard whether local started it.',
    });
    // From anywhere, and by name.
    const { code, message, hint, details } = JSON.parse(
      (await home.run(['swarm', 'down', 'demo', '--json'], { cwd: home.dir })).stdout,
    ).error;
    expect([code, message]).to.deep.equal(['launcher_failed', 'bot: Nobody heard whether local started it.']);
    expect(details.agents[0].state).to.equal('unknown');
    const { swarm, at } = (await home.json(['swarm', 'list'])).swarms[0];
    const up = ['swarm', 'up', '--only', 'bot', '--file', join(home.work, 'service.yaml'), '--server', at.url];
    const down = ['swarm', 'down', swarm, '--only', 'bot'];
    expect(hint).to.equal(`Ask local: service ${up.join(' ')}; then stop it: service ${down.join(' ')}`);
    const [agent] = (await home.json(up, { cwd: home.dir })).agents as Agent[];
    expect([agent!.action, agent!.by, agent!.seated]).to.deep.equal(['running', 'launcher', true]);
    const { bindings } = await home.json(['daemon', 'status']);
    expect(bindings.filter(bound('bot'))).to.have.length(1);
    expect((await home.json(down, { cwd: home.dir })).agents[0].stopped).to.equal(true);
  });

  it('forgets what nobody heard of once its file no longer has it, and says where to stop it', async () => {
    write(BOT);
    launcher.behave({ start: {} });
    expect((await errorOf(['swarm', 'up', '--yes'])).code).to.equal('launcher_failed');
    write(BOT.replace('name: bot', 'name: second'));
    launcher.behave({});
    const { warnings } = await home.json(['swarm', 'up']);
    expect(warnings.map(({ message }: { message: string }) => message)).to.deep.equal([
      'bot may run, but service.yaml no longer has it.',
    ]);
    const { exit, message, hint } = await errorOf(['swarm', 'down']);
    expect([exit, message, hint]).to.deep.equal([
      1,
      'bot: Nobody heard whether local started it. 1 other went well.',
      'Stop it where local runs it; it is forgotten here',
    ]);
    const { agents } = await home.json(['swarm', 'down']);
    expect(agents.map(({ name }: Agent) => name)).to.deep.equal(['second']);
  });

  it('says what runs without a handle, and does not look for it for ever', async () => {
    write(BOT);
    launcher.behave({ start: { error: { code: 'already_running', message: 'bot runs' } } });
    const why = 'local runs it, but gave no handle to find it by.';
    for (let n = 0; n < 2; n++) {
      const [agent] = (await home.json(['swarm', 'up', '--yes', '--wait', '0'])).agents;
      expect(agent).to.include({ action: 'running', state: 'unknown', blocked: why });
    }
    const { message, hint } = await errorOf(['swarm', 'down']);
    expect([message, hint]).to.deep.equal([`bot: ${why}`, 'Stop it where local runs it; it is forgotten here']);
    expect((await home.json(['swarm', 'down'])).agents).to.deep.equal([]);
  });

  it('names the launcher that may have started what another one starts now', async () => {
    write(BOT);
    launcher.behave({ start: {} });
    expect((await errorOf(['swarm', 'up', '--yes'])).hint).to.equal('Choose another launcher in service.yaml');
    write(BOT.replace('launcher: local', 'launcher: headless'));
    // Its former launcher is meant, which the file no longer names.
    expect((await home.json(['swarm', 'ps'])).agents[0].blocked).to.equal('Nobody heard whether local started it.');
    const up = await home.json(['swarm', 'up']);
    expect([actions(up), up.warnings]).to.deep.equal([
      [['bot', 'started']],
      [
        {
          code: 'agent_may_run',
          message: 'bot: Nobody heard whether local started it; headless starts it now.',
          hint: 'If it runs, stop it where local runs it',
        },
      ],
    ]);
  });

  it('forgets what a launcher runs that is gone once its file names another one, and says where to stop it', async () => {
    const [program, away] = ['bin/service-launcher-local', 'away'].map((name) => join(home.dir, name));
    const other = BOT.replace('launcher: local', 'launcher: headless');
    write(BOT);
    await home.json(['swarm', 'up', '--yes']);
    await home.json(['swarm', 'down']);
    renameSync(program!, away!);
    write(other);
    expect((await home.json(['swarm', 'down'])).agents[0], 'what is stopped').to.include({ problem: null });
    renameSync(away!, program!);
    write(BOT);
    const { swarm } = await home.json(['swarm', 'up']);
    renameSync(program!, away!);
    const message = 'bot: The launcher local is not there: there is no program service-launcher-local on PATH (info).';
    expect(await errorOf(['swarm', 'down'])).to.include({ message, hint: 'Choose another launcher in service.yaml' });
    write(other);
    expect(actions(await home.json(['swarm', 'up']))).to.deep.equal([['bot', 'running']]);
    const { handle } = JSON.parse(readFileSync(home.path('state', 'swarms', `${swarm}.json`), 'utf8')).agents.bot;
    const hint = `Stop it where local runs it, by its handle ${handle}; it is forgotten here`;
    expect(await errorOf(['swarm', 'down'])).to.include({ message, hint });
    expect((await home.json(['swarm', 'ps'])).agents[0]).to.include({ state: 'running', by: 'hand' });
    process.kill(Number(readFileSync(join(launcher.folder, `${swarm}-bot.pid`), 'utf8')));
    await until('its end', async () => (await home.json(['swarm', 'ps'])).agents[0].state === 'not_started');
    expect(actions(await home.json(['swarm', 'up']))).to.deep.equal([['bot', 'started']]);
  });

  it('is found by every command on the server that the environment names instead of the file', async () => {
    write(`server: https://elsewhere.example.com\n${BOT}`);
    const options = { env: { SERVICE_SERVER: 'local' } };
    const { swarm } = await home.json(['swarm', 'up', '--yes'], options);
    for (const verb of ['ps', 'show', 'down'])
      expect((await home.json(['swarm', verb], options)).swarm, verb).to.equal(swarm);
    write(`server: local\n${BOT}`);
    expect((await home.json(['swarm', 'ps'], { env: { SERVICE_SERVER: '' } })).swarm, 'an empty one').to.equal(swarm);
    write(BOT.replace('demo', 'other'), 'other.yaml');
    expect((await home.json(['swarm', 'show', '-F', 'other.yaml'], options)).at).to.equal('local');
  });

  it('starts, shows and stops an agent whose name is one of what every object has', async () => {
    write(BOT);
    await home.json(['swarm', 'up', '--yes']);
    write(BOT.replace('name: bot', 'name: constructor'));
    expect((await home.json(['swarm', 'ps'])).agents[0]).to.include({ name: 'constructor', state: 'not_started' });
    expect((await errorOf(['swarm', 'down', '--only', 'constructor'])).code).to.equal('invalid_request');
    expect(actions(await home.json(['swarm', 'up']))).to.deep.equal([['constructor', 'started']]);
    const { agents } = await home.json(['swarm', 'down', '--only', 'constructor']);
    expect(agents.map(({ name, stopped }: Agent & { stopped: boolean }) => [name, stopped])).to.deep.equal([
      ['constructor', true],
    ]);
  });

  it('has nothing to stop where a launcher said that it started nothing', async () => {
    write(BOT);
    launcher.behave({ start: { error: { code: 'start_failed', message: 'no room' } } });
    expect((await errorOf(['swarm', 'up', '--yes'])).code).to.equal('start_failed');
    const { agents } = await home.json(['swarm', 'down']);
    expect(agents).to.deep.equal([{ name: 'bot', stopped: false, state: 'exited', by: null, problem: null }]);
  });

  it('takes a launcher that cannot tell for one whose agent runs', async () => {
    write(BOT);
    await home.json(['swarm', 'up', '--yes']);
    for (const answer of [{ state: 'unknown', blocked: 'asks for leave' }, { error: { code: 'host_unavailable' } }]) {
      launcher.behave({ status: answer });
      expect((await home.json(['swarm', 'ps'])).agents[0]).to.include({ state: 'unknown', by: 'launcher' });
      expect(actions(await home.json(['swarm', 'up', '--yes']))).to.deep.equal([['bot', 'running']]);
    }
    expect(launcher.asked('start')).to.have.length(1);
    expect((await home.json(['swarm', 'down'])).agents[0]).to.include({ stopped: true, problem: null });
    launcher.behave({});
    await home.json(['swarm', 'up']);
    launcher.behave({ stop: { error: { code: 'host_unavailable', message: 'it is away' } } });
    const left = await errorOf(['swarm', 'down']);
    expect([left.exit, left.code, left.message]).to.deep.equal([1, 'host_unavailable', 'bot: it is away.']);
    launcher.behave({ status: { state: 'running', blocked: 'asks for leave' } });
    expect((await home.run(['swarm', 'ps'])).stdout).to.match(/^bot .* running idle - asks for leave/m);
  });

  it('is shown in tables, with a head above each column in which something stands', async () => {
    const lines = async (...args: string[]) => {
      const { stdout } = await home.run(['swarm', ...args]);
      return stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/ {2,}/));
    };
    expect(await lines('list')).to.deep.equal([['No swarm was ever started here. Start one: service swarm up']]);
    write(BOT);
    const file = join(home.work, 'service.yaml');
    expect(await lines('show')).to.deep.equal([
      [`demo · 1 · ${file}`],
      ['NAME', 'PROGRAM', 'LAUNCHER', 'SEAT', 'FOLDER'],
      ['bot', 'command', 'local, headless', 'not yet', home.work],
    ]);
    write(BOT.replace('launcher: local', 'launcher: headless, dir: away'), 'away.yaml');
    expect((await lines('show', '-F', 'away.yaml'))[2]).to.deep.equal([
      'bot',
      'command',
      'headless',
      'not yet',
      `${join(home.work, 'away')} (not there)`,
    ]);
    expect((await lines('ps')).slice(1)).to.deep.equal([
      ['NAME', 'PROGRAM', 'LAUNCHER', 'STATE'],
      ['bot', 'command', 'local', 'not started'],
    ]);
    expect((await lines('up', '--yes')).slice(-2)).to.deep.equal([
      ['NAME', 'DONE', 'STATE', 'LOOK AT IT'],
      ['bot', 'started', 'running idle', 'less bot.log'],
    ]);
    expect((await lines('ps')).slice(1)).to.deep.equal([
      ['NAME', 'PROGRAM', 'LAUNCHER', 'STATE', 'STARTED', 'LOOK AT IT'],
      ['bot', 'command', 'local', 'running idle', 'just now', 'less bot.log'],
    ]);
    const [{ swarm, at }] = (await home.json(['swarm', 'list'])).swarms;
    expect(await lines('list')).to.deep.equal([
      ['NAME', 'SERVER', 'AGENTS', 'FILE'],
      [swarm, at.url, 'bot', file],
    ]);
    expect((await lines('down')).slice(1)).to.deep.equal([
      ['NAME', 'STATE'],
      ['bot', 'stopped'],
    ]);
  });

  it('starts the others when one cannot be started, and says which', async () => {
    home.program('quits', 'echo out of luck; exit 1');
    addProfile(home, 'mine', { interactive: { start: ['quits'] } });
    write(`${BOT}  - {name: quitter, harness: mine, launcher: local}\n`);
    const { exit, code, message, details } = await errorOf(['swarm', 'up', '--yes', '--wait', '20']);
    expect([exit, code]).to.deep.equal([1, 'start_failed']);
    expect(message).to.include('quitter').and.include('1 other went well.');
    expect(
      details.agents.map(({ name, seated, problem }: Agent) => [name, seated, problem?.code ?? null]),
    ).to.deep.equal([
      ['bot', true, null],
      ['quitter', false, 'start_failed'],
    ]);
    expect(launcher.log('quitter')).to.equal('out of luck\n');
    launcher.behave({ start: { error: { code: 'start_failed', message: 'no room' } } });
    const again = await errorOf(['swarm', 'up', '--yes', '--wait', '20']);
    expect([again.code, again.message]).to.deep.equal(['start_failed', 'quitter: no room. 1 other went well.']);
  });

  it('waits no longer than it may', async () => {
    home.program('deaf', 'exec sleep 100');
    addProfile(home, 'mine', { interactive: { start: ['deaf'] } });
    write('board: demo\nagents:\n  - {name: deaf, harness: mine, launcher: local}\n');
    const up = await home.json(['swarm', 'up', '--yes', '--wait', '0']);
    expect([up.timed_out, up.agents[0].seated, up.agents[0].state]).to.deep.equal([true, false, 'running']);
    const waited = await home.run(['swarm', 'up', '--yes', '--wait', '1', '--fail-timeout']);
    expect(waited.code).to.equal(3);
    expect(waited.stderr).to.equal(`Waiting up to 1 s until ${up.agents[0].name} has taken its seat…\n`);
    expect((await home.run(['swarm', 'up', '--yes', '--wait', '0'])).stdout)
      .to.include('without its seat')
      .and.include('service swarm ps');
  });
});
