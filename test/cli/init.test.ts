/** Setting up the agent programs of a machine, and leaving no trace in them. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { collect, finished, root, until } from './support/home.ts';
import { Machine } from './support/machine.ts';
import { typed } from './support/terminal.ts';

const golden = join(root, 'test', 'cli', 'golden', 'init');

const theirs = `{
    // mine
    "model": "opus",
    "hooks": {
        "Stop": [
            { "hooks": [ { "type": "command", "command": "say done" } ] }
        ]
    }
}
`;

describe('service init', () => {
  let machine: Machine;
  beforeEach(() => {
    machine = new Machine();
  });
  afterEach(() => machine.close());
  const init = (...args: string[]) => machine.json(['init', '--yes', ...args]);

  for (const scope of ['global', 'project'])
    it(`writes what stands in the golden files, for scope ${scope}`, () => check(scope));

  async function check(scope: string): Promise<void> {
    machine.env.SHELL = '/bin/sh';
    machine.put('.profile', `PATH=${machine.at('bin')}:$PATH\n`);
    const record = await init('--scope', scope, '--allow-commands');
    expect(record.applied).to.equal(true);
    const files = machine.written();
    const folder = join(golden, scope);
    if (process.env.UPDATE_GOLDEN)
      for (const [path, text] of Object.entries(files)) {
        const place = join(folder, path.replace('~/', ''));
        mkdirSync(dirname(place), { recursive: true });
        writeFileSync(place, text);
      }
    for (const [path, text] of Object.entries(files))
      expect(text, path).to.equal(readFileSync(join(folder, path.replace('~/', '')), 'utf8'));
    expect(Object.keys(files)).to.have.length(scope === 'global' ? 5 : 5);
  }

  it('lists the changes and writes nothing without --yes, by --json or where nobody can be asked', async () => {
    const listed = await machine.json(['init']);
    expect(listed.applied).to.equal(false);
    expect(
      listed.harnesses.map(({ name, detected }: { name: string; detected: boolean }) => [name, detected]),
    ).to.deep.equal([
      ['claude-code', true],
      ['codex', true],
      ['omp', false],
    ]);
    const claude = listed.harnesses[0].changes;
    expect(claude.map(({ kind, action }: { kind: string; action: string }) => `${action} ${kind}`)).to.deep.equal([
      'create skill',
      'create hooks',
    ]);
    const text = await machine.run(['init']);
    expect(text.stdout).to.include('Nothing was written. Apply it with: service init --yes');
    for (const path of ['.claude', '.codex', '.agents', 'store/state/installed.json', 'store/state/bin'])
      expect(existsSync(machine.at(path)), path).to.equal(false);
  });

  it('offers to apply only what there is to change, and says what to do where no program is found', async () => {
    await init();
    expect((await machine.run(['init'])).stdout)
      .to.include('nothing to change')
      .and.not.include('Nothing was written');
    const { stdout } = await machine.run(['init', '--harness', 'omp']);
    expect(stdout).to.include('Nothing was written. Apply it with: service init --harness omp --yes\n');
    const bare = await machine.run(['init'], { env: { PATH: machine.at('nothing') } });
    expect(bare.stdout).to.include('To set one up that is not there yet: service init --harness NAME --yes\n');
    expect(bare.stdout).to.not.include('Nothing was written');
  });

  it('changes nothing by a second run, nor after the program was refreshed', async () => {
    machine.put('.claude/settings.json', theirs);
    await init();
    const before = machine.written();
    const again = await init();
    expect(again.harnesses.flatMap(({ changes }: { changes: unknown[] }) => changes)).to.deep.equal([]);
    expect(machine.written()).to.deep.equal(before);
  });

  it('is undone byte for byte, with the hooks of others as they were all the time', async () => {
    machine.put('.claude/settings.json', theirs, 0o640);
    const compact = machine.put('.codex/hooks.json', '{"hooks":{}}');
    await init();
    expect(machine.text('.claude/settings.json'))
      .to.include('say done')
      .and.include('// mine')
      .and.include('hook claude-code wait');
    expect(statSync(machine.at('.claude/settings.json')).mode & 0o777).to.equal(0o640);
    const gone = await machine.json(['uninstall', '--yes']);
    expect(gone).to.include({ applied: true });
    expect(machine.text('.claude/settings.json')).to.equal(theirs);
    expect(machine.text('.codex/hooks.json')).to.equal(compact);
    for (const path of ['.claude/skills', '.agents', 'store/state/bin/service', 'store/state/installed.json'])
      expect(existsSync(machine.at(path)), path).to.equal(false);
  });

  it('is undone where its person wrote a setting before ours, and leaves JSON that their program reads', async () => {
    await init();
    const ours = machine.text('.claude/settings.json');
    machine.put('.claude/settings.json', ours.replace('{', '{\n  "model": "opus",'));
    await machine.json(['uninstall', '--yes']);
    expect(machine.text('.claude/settings.json')).to.equal('{\n  "model": "opus"\n}\n');
  });

  it('leaves settings alone that are no UTF-8, and uninstalls the rest', async () => {
    mkdirSync(machine.at('.claude'));
    const latin = Buffer.from('{ "outputStyle": "caf\xe9" }\n', 'latin1');
    writeFileSync(machine.at('.claude/settings.json'), latin);
    const refused = await machine.run(['init', '--yes', '--json']);
    expect([refused.code, JSON.parse(refused.stdout).error.code]).to.deep.equal([1, 'settings_unreadable']);
    expect(readFileSync(machine.at('.claude/settings.json')).equals(latin)).to.equal(true);
    machine.put('.claude/settings.json', '{}');
    await init();
    writeFileSync(machine.at('.claude/settings.json'), latin);
    const { files } = await machine.json(['uninstall', '--yes']);
    const actions = files.map(({ kind, action }: { kind: string; action: string }) => `${action} ${kind}`);
    expect(actions).to.include('unreadable hooks').and.include('delete hooks');
    expect(readFileSync(machine.at('.claude/settings.json')).equals(latin)).to.equal(true);
    expect(existsSync(machine.at('.codex'))).to.equal(false);
  });

  if (process.platform === 'linux')
    it('does the rest where settings cannot be written, and is undone when they can', async () => {
      const disk = machine.at('dotfiles');
      for (const folder of [disk, machine.at('.claude')]) mkdirSync(folder);
      symlinkSync(join(disk, 'settings.json'), machine.at('.claude/settings.json'));
      const script = [
        'cd ~',
        `mount -t tmpfs -o mode=0700 tmpfs ${disk}; echo '{}' > ${disk}/settings.json; mount -o remount,ro ${disk}`,
        'service init --yes; ls .codex',
        'service uninstall --yes --quiet; ls -A .codex .claude/skills 2>/dev/null',
        `mount -o remount,rw ${disk}; service init --yes --quiet; mount -o remount,ro ${disk}`,
        'service uninstall --yes | grep ^leave; ls .codex store/state/bin 2>/dev/null',
        `mount -o remount,rw ${disk}; service uninstall --yes --quiet; cat dotfiles/settings.json; ls store/state/bin`,
      ];
      const { stdout } = await machine.shell(`unshare -rm sh -c "${script.join('; ')}" 2>&1`);
      expect(stdout.replaceAll(machine.dir, '~').split('\n')).to.deep.equal([
        'Error (settings_unreadable): ~/.claude/settings.json cannot be read as its program reads it, or not be changed; it was left as it is.',
        'Hint: Repair it, then run the command again',
        'hooks.json',
        'leave, because it cannot be read or changed: ~/.claude/settings.json (hooks)',
        'store/state/bin:',
        'service',
        '{}',
        '',
      ]);
    });

  if (process.platform === 'linux')
    it('leaves nothing beside settings that cannot be replaced, such as a mount of a container', async () => {
      machine.put('host.json', '{}\n');
      const settings = machine.at('.claude/settings.json');
      machine.put('.claude/settings.json', '');
      const script = `mount --bind ~/host.json ${settings}; service init --yes --harness claude-code`;
      const { stderr } = await machine.shell(`unshare -rm sh -c '${script}'`);
      expect(stderr).to.include('Error (settings_unreadable)');
      expect(readdirSync(machine.at('.claude')).sort()).to.deep.equal(['settings.json', 'skills']);
    });

  it('says where it has written hooks into a file that its program skips because of comments', async () => {
    machine.put('.claude/settings.json', theirs);
    const { warnings } = await init();
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include({ code: 'settings_commented' });
    expect(warnings[0].message).to.include(machine.at('.claude/settings.json'));
    machine.put('.claude/settings.json', machine.text('.claude/settings.json').replace('// mine', ''));
    expect((await init()).warnings).to.equal(undefined);
  });

  it('writes the part by which the word of its person enters for versions that take it, and takes it away', async () => {
    const folder = machine.at('.claude/skills/board-service');
    machine.program('claude', "echo '2.1.329 (Claude Code)'");
    await init('--harness', 'claude-code');
    expect(existsSync(folder)).to.equal(false);
    machine.program('claude', "echo '2.1.330 (Claude Code)'");
    await init('--harness', 'claude-code');
    expect(machine.text('.claude/skills/board-service/hooks/register.js')).to.include(
      `["${machine.path('state', 'bin', 'service')}", 'hook', 'claude-code', 'door']`,
    );
    for (const name of ['.claude-plugin/plugin.json', 'hooks/hooks.json'])
      JSON.parse(machine.text(join('.claude/skills/board-service', name)));
    await machine.json(['uninstall', '--yes']);
    expect(existsSync(folder)).to.equal(false);
  });

  it('leaves no file that it made', async () => {
    await init();
    expect(statSync(machine.at('.claude/settings.json')).mode & 0o777).to.equal(0o600);
    await machine.json(['uninstall', '--yes']);
    for (const path of ['.claude', '.codex', '.agents']) expect(existsSync(machine.at(path)), path).to.equal(false);
  });

  it('writes through links', async () => {
    machine.put('dotfiles/claude.json', theirs);
    mkdirSync(machine.at('.claude'));
    symlinkSync(machine.at('dotfiles/claude.json'), machine.at('.claude/settings.json'));
    await init('--harness', 'claude-code');
    expect(lstatSync(machine.at('.claude/settings.json')).isSymbolicLink()).to.equal(true);
    expect(machine.text('dotfiles/claude.json')).to.include('hook claude-code');
    await machine.json(['uninstall', '--yes']);
    expect(machine.text('dotfiles/claude.json')).to.equal(theirs);
  });

  it('keeps what its person has edited, and names it', async () => {
    await init();
    machine.put('.claude/skills/service/SKILL.md', 'my own words\n');
    const [claude] = (await init()).harnesses;
    expect(claude.changes).to.deep.equal([
      { path: machine.at('.claude/skills/service/SKILL.md'), kind: 'skill', action: 'keep', edited: true },
    ]);
    const { files } = await machine.json(['uninstall', '--yes']);
    expect(files.find(({ kind, edited }: { kind: string; edited?: true }) => kind === 'skill' && edited)).to.include({
      action: 'keep',
    });
    expect(machine.text('.claude/skills/service/SKILL.md')).to.equal('my own words\n');
  });

  it('leaves settings alone that do not parse, and does the rest', async () => {
    const broken = machine.put('.claude/settings.json', '{ "hooks": ');
    const refused = await machine.run(['init', '--yes', '--json']);
    expect([refused.code, JSON.parse(refused.stdout).error.code]).to.deep.equal([1, 'settings_unreadable']);
    expect(machine.text('.claude/settings.json')).to.equal(broken);
    expect(machine.text('.codex/hooks.json')).to.include('hook codex tool');
  });

  it('names only events that the version knows, and says what is lost', async () => {
    machine.program('claude', "echo '2.0.30 (Claude Code)'");
    const { stdout } = await machine.run(['init', '--yes']);
    expect(stdout).to.include('Claude Code 2.0.30 has no Stop. An idle session is not woken');
    const events = Object.keys(JSON.parse(machine.text('.claude/settings.json')).hooks);
    expect(events).to.deep.equal(['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'SessionEnd']);
  });

  it('takes the least version that is supported where a program does not say its own', async () => {
    machine.program('claude', 'exit 3');
    await init();
    const events = Object.keys(JSON.parse(machine.text('.claude/settings.json')).hooks);
    expect(events).to.deep.equal([
      'SessionStart',
      'UserPromptSubmit',
      'Stop',
      'PostToolUse',
      'PostToolUseFailure',
      'PermissionRequest',
      'Notification',
      'SessionEnd',
    ]);
  });

  it('does not wait for what a program or a login shell leaves running in the background', async () => {
    machine.program('claude', "sleep 50 & echo '2.1.197 (Claude Code)'");
    machine.env.SHELL = '/bin/sh';
    machine.put('.profile', `sleep 50 &\nPATH=${machine.at('bin')}:$PATH\n`);
    const { harnesses } = await init('--allow-commands');
    expect(harnesses[0]).to.include({ name: 'claude-code', version: '2.1.197' });
  });

  it('allows commands only where "service" is this program, and writes nothing at all otherwise', async () => {
    const elsewhere = machine.at('elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, 'service'), '#!/bin/sh\n');
    chmodSync(join(elsewhere, 'service'), 0o755);
    machine.env.SHELL = '/bin/sh';
    machine.put('.profile', `PATH=${elsewhere}:$PATH\n`);
    const refused = await machine.run(['init', '--yes', '--allow-commands', '--json']);
    expect([refused.code, JSON.parse(refused.stdout).error.code]).to.deep.equal([1, 'path_conflict']);
    expect(existsSync(machine.at('.claude'))).to.equal(false);
  });

  it('leaves a rule that its person had, and the file of it', async () => {
    machine.env.SHELL = '/bin/sh';
    machine.put('.profile', `PATH=${machine.at('bin')}:$PATH\n`);
    const settings = '{\n  "permissions": {\n    "allow": ["Bash(service *)"]\n  }\n}\n';
    machine.put('.claude/settings.json', settings);
    await init('--allow-commands');
    await machine.json(['uninstall', '--yes']);
    expect(machine.text('.claude/settings.json')).to.equal(settings);
  });

  it('uses the configuration folders that are set', async () => {
    machine.env.CLAUDE_CONFIG_DIR = machine.at('conf c');
    machine.env.CODEX_HOME = machine.at('conf-x');
    await init();
    expect(machine.text('conf c/settings.json')).to.include('hook claude-code');
    expect(machine.text('conf-x/hooks.json')).to.include('hook codex');
    expect(existsSync(machine.at('.agents/skills/service/SKILL.md'))).to.equal(true);
  });

  it('warns when Codex runs the hooks of both scopes', async () => {
    expect((await init()).warnings).to.equal(undefined);
    expect((await init('--project')).warnings.map(({ code }: { code: string }) => code)).to.deep.equal(['hooks_twice']);
  });

  it('keeps what another one noted while its person was asked', async () => {
    const asked = machine.startShell("exec script -qec 'service init' /dev/null", {
      stdin: 'pipe',
      env: { TERM: 'xterm' },
    });
    const printed = collect(asked);
    await until('the question', () => printed().stdout.includes('Make these changes?'));
    await init('--project');
    asked.stdin?.write('y\r');
    expect((await finished(asked)).code).to.equal(0);
    await machine.json(['uninstall', '--yes']);
    for (const path of ['.claude', 'work/.claude', 'work/.codex']) expect(existsSync(machine.at(path))).to.equal(false);
  });

  it('sets up only what is named, and refuses what it does not know', async () => {
    await init('--harness', 'codex');
    expect(existsSync(machine.at('.claude'))).to.equal(false);
    expect((await machine.run(['init', '--harness', 'nobody', '--json'])).code).to.equal(2);
  });

  it('and uninstall are a person’s', async () => {
    for (const args of [
      ['init', '--yes'],
      ['uninstall', '--yes'],
      ['uninstall', '--data', '--yes'],
    ]) {
      const refused = await machine.run([...args, '--json'], { env: { CLAUDECODE: '1' } });
      expect([refused.code, JSON.parse(refused.stdout).error.code]).to.deep.equal([5, 'human_command_in_session']);
    }
    await init();
    const unasked = await machine.run(['uninstall', '--json']);
    expect([unasked.code, JSON.parse(unasked.stdout).error.code]).to.deep.equal([2, 'confirmation_required']);
  });

  it('writes entries that run, by whatever shell and from a folder with blanks', async () => {
    machine.env.SERVICE_HOME = machine.at('a home');
    await init();
    const { hooks } = JSON.parse(machine.text('.claude/settings.json'));
    const { command } = hooks.PreToolUse[0].hooks[0];
    const input = {
      session_id: 's',
      hook_event_name: 'PreToolUse',
      agent_id: 'a1',
      tool_input: { command: 'service say x' },
    };
    // Without the variable, as a harness that was started elsewhere would run it.
    const env = { HOME: machine.dir, PATH: '/usr/bin:/bin' };
    const ran = spawnSync('/bin/sh', ['-c', command], { input: JSON.stringify(input), env, encoding: 'utf8' });
    expect([ran.status, ran.stderr]).to.deep.equal([0, '']);
    expect(JSON.parse(ran.stdout).hookSpecificOutput.updatedInput.command).to.equal(
      'export SERVICE_SUBAGENT=a1; service say x',
    );
  });

  it('has its script follow the program when that moves, and never fails a hook where it is gone', async () => {
    await init();
    const script = machine.path('state', 'bin', 'service');
    const text = readFileSync(script, 'utf8');
    writeFileSync(
      script,
      text.replace(/^entry=.*$/m, "entry='/gone/bin/run.js'").replace(/\/[^']*hook\.cjs/g, '/gone/hook.cjs'),
    );
    const ran = spawnSync(script, ['hook', 'claude-code', 'prompt'], {
      input: '{}',
      encoding: 'utf8',
      env: machine.env,
    });
    expect([ran.status, ran.stdout]).to.deep.equal([0, '']);
    expect(ran.stderr).to.match(/^service hook: [^\n]+\n$/);
    expect(spawnSync(script, ['version'], { env: machine.env }).status).to.equal(127);
    await machine.run(['version']);
    expect(readFileSync(script, 'utf8')).to.equal(text);
    expect(statSync(script).mode & 0o777).to.equal(0o755);
  });

  it('has its script keep to the folders it was set up for, whatever a later command is told', async () => {
    await init();
    const script = machine.path('state', 'bin', 'service');
    const text = readFileSync(script, 'utf8');
    await machine.run(['version'], { env: { SERVICE_DATA_DIR: machine.at('copy') } });
    expect(readFileSync(script, 'utf8')).to.equal(text);
  });

  it('leaves no daemon that a hook of a session starts again while the server ends', async () => {
    await init();
    await machine.json(['daemon', 'start']);
    await machine.json(['server', 'start']);
    const server = machine.serverPid() as number;
    process.kill(server, 'SIGSTOP');
    const uninstall = machine.start(['uninstall', '--yes']);
    const [script, socket] = [machine.path('state', 'bin', 'service'), machine.path('state', 'daemon.sock')];
    await until('the hooks or the daemon are gone', () => !existsSync(script) || !existsSync(socket));
    const input = JSON.stringify({ session_id: 's', hook_event_name: 'UserPromptSubmit', prompt: 'go on' });
    spawnSync(script, ['hook', 'claude-code', 'prompt'], { input, env: machine.env });
    process.kill(server, 'SIGCONT');
    expect((await finished(uninstall)).code).to.equal(0);
    const status = await machine.run(['daemon', 'status', '--json']);
    expect(JSON.parse(status.stdout).error?.code).to.equal('daemon_not_running');
  });

  it('notes what several set up at once', async () => {
    const projects = ['one', 'two', 'three', 'four'];
    for (const name of projects) mkdirSync(machine.at(name));
    const all = projects.map((name) => machine.shell(`cd ../${name} && service init --project --yes --quiet`));
    for (const { code } of await Promise.all(all)) expect(code).to.equal(0);
    await machine.json(['uninstall', '--yes']);
    for (const name of projects) expect(readdirSync(machine.at(name)), name).to.deep.equal([]);
  });

  it('asks at a terminal without saying first that nothing was written, and how to apply it', async () => {
    const shown = await typed(machine, 'service init', [['Make these changes?', 'n']]);
    expect(shown).to.include('Nothing changed.').and.not.include('Apply it with');
  });

  it('uninstall says that the server and the daemon stop, and asks nothing where there is nothing', async () => {
    const nothing = await machine.run(['uninstall']);
    expect(nothing).to.deep.equal({
      code: 0,
      stdout: 'There is nothing to take away.\nThe program itself: npm uninstall --global board-service\n',
      stderr: '',
    });
    expect((await machine.run(['uninstall', '--dry-run'])).stdout).to.equal('There is nothing to take away.\n');
    await machine.json(['daemon', 'start']);
    await machine.json(['server', 'start']);
    const stops = 'To be stopped: the local server and the daemon';
    expect((await machine.run(['uninstall', '--dry-run'])).stdout).to.equal(`${stops}\n`);
    const asked = JSON.parse((await machine.run(['uninstall', '--json'])).stdout);
    expect(asked.error.message).to.equal(`${stops}\nTake all of that away?`);
    const gone = await machine.run(['uninstall', '--yes']);
    expect(gone.stdout).to.match(/^Stopped the local server and the daemon\.\n/);
  });

  it('with --data deletes nothing where hooks of ours cannot be taken out', async () => {
    await init();
    const settings = machine.text('.claude/settings.json');
    machine.put('.claude/settings.json', settings.slice(0, -4));
    const refused = await machine.run(['uninstall', '--data', '--yes', '--json']);
    expect([refused.code, JSON.parse(refused.stdout).error?.code]).to.deep.equal([1, 'settings_unreadable']);
    expect(existsSync(machine.path('state', 'bin', 'service'))).to.equal(true);
    machine.put('.claude/settings.json', settings);
    await machine.json(['uninstall', '--data', '--yes']);
    for (const path of ['.claude/settings.json', 'store/state'])
      expect(existsSync(machine.at(path)), path).to.equal(false);
  });

  it('with --data leaves nothing of this machine', async () => {
    await init();
    await machine.json(['board', 'create', 'demo']);
    const dry = await machine.json(['uninstall', '--data', '--dry-run']);
    expect(dry).to.include({ applied: false, server_stopped: false });
    expect(existsSync(machine.path('data'))).to.equal(true);
    const gone = await machine.json(['uninstall', '--data', '--yes']);
    expect(gone).to.include({ applied: true, server_stopped: true });
    for (const name of ['config', 'data', 'state']) expect(existsSync(machine.path(name)), name).to.equal(false);
  });

  it('teaches by a skill that is also printed', async () => {
    await init();
    const { stdout } = await machine.run(['skill', '--harness', 'claude-code']);
    expect(machine.text('.claude/skills/service/SKILL.md')).to.equal(stdout);
    expect(stdout).to.match(/^---\nname: service\n/);
    expect((await machine.run(['skill'])).stdout).to.include('service inbox --wait');
    expect((await machine.run(['skill'], { env: { CLAUDECODE: '1' } })).code).to.equal(0);
  });
});
