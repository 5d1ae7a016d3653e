/** Completion, as the shell asks for it: what is always the same from the script, names from the server, and never a word more. */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { readCatalog, visibleCommands } from '../../src/cli/help/catalog.ts';
import { completionScript, shells } from '../../src/commands/completion/lib/script.ts';
import { findProgram } from '../../src/harness/programs.ts';
import { collect, finished, Home, root, until } from './support/home.ts';
import { homeWithBoard } from './support/shared.ts';

/** What is added to the file that bash starts with, but for the mark. */
const bashLine = (program: string): string =>
  `command -v ${program} >/dev/null && eval "$(${program} completion bash 2>/dev/null)"`;

describe('completion', () => {
  const home = homeWithBoard('general', { apart: true });

  /** What bash offers for a line with the cursor at its end. */
  async function offered(line: string, where = home()): Promise<string[]> {
    const words = line.split(' ');
    const script = [
      'eval "$(service completion bash)"',
      `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})`,
      `COMP_CWORD=${words.length - 1}`,
      `COMP_LINE='${line}'`,
      '_service',
      `printf "%s\\n" "\${COMPREPLY[@]}"`,
    ].join('\n');
    const file = join(where.dir, 'offered.sh');
    writeFileSync(file, script);
    const { stdout, stderr } = await where.shell(`bash ${file}`);
    expect(stderr).to.equal('');
    return stdout.split('\n').filter(Boolean);
  }

  /** For who presses Tab again where the server was too busy to answer in time. */
  async function offeredSoon(line: string): Promise<string[]> {
    for (let n = 0; n < 9; n++) {
      const found = await offered(line);
      if (found.length > 0) return found;
    }
    return offered(line);
  }

  it('offers commands, flags and fixed values', async () => {
    expect(await offered('service boa')).to.deep.equal(['board', 'boards']);
    expect(await offered('service board po')).to.deep.equal(['policy', 'post']);
    expect(await offered('service say --exp')).to.deep.equal(['--expect-reply']);
    expect(await offered('service board read --json --has ')).to.deep.equal([
      'ask',
      'answer',
      'files',
      'mention_me',
      'awaits_me',
    ]);
    expect(await offered('board-service board vis')).to.deep.equal(['visibility']);
    expect(await offered('board-service agent midturn own')).to.deep.equal(['owner-only']);
    expect(await offered('service board policy st')).to.deep.equal(['starter']);
  });

  it('offers the commands and topics after help, and none of their flags and values', async () => {
    expect(await offered('service help ser')).to.deep.equal(['serve', 'server', 'servers']);
    expect(await offered('service help server st')).to.deep.equal(['start', 'stop']);
    expect(await offered('service help board archive ')).to.deep.equal([]);
    expect(await offered('service hel')).to.deep.equal(['help']);
  });

  it('asks for names: boards, agents, members, servers, keys', async () => {
    await home().json(['agent', 'create', 'codex', '--board', 'general']);
    await home().json(['board', 'create', 'gadgets', '--no-link']);
    expect(await offeredSoon('service read --board g')).to.have.members(['general', 'gadgets']);
    expect(await offeredSoon('service board archive ga')).to.deep.equal(['gadgets']);
    expect(await offeredSoon('service say --to @co')).to.deep.equal(['@codex']);
    expect(await offeredSoon('service read --as ')).to.deep.equal(['codex']);
    for (const command of ['servers use', 'login', 'logout'])
      expect(await offeredSoon(`service ${command} `), command).to.deep.equal(['local']);
    expect(await offeredSoon('service init --harness cl')).to.deep.equal(['claude-code']);
    expect(await offeredSoon('service key revoke ')).to.have.length.greaterThan(0);
  });

  it('completes what bash breaks in words: @ and the value of a flag', async () => {
    // There already, unless this test runs alone.
    await home().run(['agent', 'create', 'codex', '--board', 'general']);
    await home().json(['board', 'create', 'broken', '--no-link']);
    await home().shell('echo a file | service file put only-there.md - --board broken');
    const lines = [
      ['say --to @co', '@codex'],
      ['read --has=an', '--has=answer'],
      ['file get --board=broken on', 'only-there.md'],
      ['board policy --set urgent=ev', 'urgent=everyone'],
    ] as const;
    // A busy server may need more than one question; then it is remembered.
    for (const [line] of lines) await offeredSoon(`service ${line.replace('has=', 'has ')}`);
    const bash = "exec script -qec 'bash --norc --noprofile -i' /dev/null";
    const child = home().startShell(bash, { stdin: 'pipe', env: { TERM: 'dumb', PS1: '$ ' } });
    const printed = collect(child);
    child.stdin?.write('eval "$(service completion bash)"; echo rea""dy\n');
    await until('the shell is ready', () => printed().stdout.includes('\nready'));
    for (const [line, whole] of lines) {
      child.stdin?.write(`service ${line}\t`);
      await until(`${line} is completed`, () => printed().stdout.includes(`${whole} `));
      child.stdin?.write('\x15');
    }
    child.stdin?.write('exit\n');
    await finished(child);
  });

  /** Where the shell is on this machine, what it offers for a line with the cursor at its end. */
  const others: Record<string, (line: string) => string> = {
    zsh: (line) =>
      [
        'compdef() { :; }',
        `compset() { PREFIX="\${PREFIX#*=}"; }`,
        'compadd() { shift; for one in "$@"; do case "$one" in "$PREFIX"*) print -r -- "$one";; esac; done; }',
        'eval "$(service completion zsh)"',
        `words=(${line.replace(/ $/, ' ""')}); CURRENT=$#words; PREFIX="$words[CURRENT]"`,
        '_service',
      ].join('\n'),
    fish: (line) => `service completion fish | source; complete -C '${line}' | string split -f 1 \\t`,
  };
  for (const [shell, script] of Object.entries(others).filter(([name]) => findProgram(name, process.env)))
    it(`offers the same in ${shell}`, async () => {
      const completed = async (line: string) => {
        const file = join(home().dir, `offered.${shell}`);
        writeFileSync(file, script(line));
        const { stdout, stderr } = await home().shell(`${shell} ${shell === 'zsh' ? '-f' : '--no-config'} ${file}`);
        expect(stderr).to.equal('');
        return stdout.split('\n').filter(Boolean);
      };
      const whole = shell === 'fish' ? '--has=' : '';
      for (const [line, offers] of [
        ['service board po', ['policy', 'post']],
        ['service say --exp', ['--expect-reply']],
        ['service read --has an', ['answer']],
        ['service board read --json --has=a', [`${whole}ask`, `${whole}answer`, `${whole}awaits_me`]],
        ['service board read --has ', ['ask', 'answer', 'files', 'mention_me', 'awaits_me']],
        ['service servers use lo', ['local']],
        ['service help ser', ['serve', 'server', 'servers']],
        ['service help server st', ['start', 'stop']],
        ['service logout lo', ['local']],
        ['service board policy --set urgent=', ['urgent=everyone', 'urgent=granted']],
      ] as const)
        expect(await completed(line), line).to.have.members([...offers]);
    });

  if (findProgram('fish', process.env))
    it('offers in fish nothing of another program of the name, and files only where one is due', async () => {
      const config = join(home().dir, 'fish-config');
      const env = { XDG_CONFIG_HOME: config };
      const system = join(home().dir, 'vendor');
      mkdirSync(system);
      writeFileSync(join(system, 'service.fish'), "complete -c service -a 'postgresql' -d 'of the system'\n");
      writeFileSync(join(home().work, 'policy.txt'), '');
      const completed = async (line: string) => {
        const file = join(home().dir, 'installed.fish');
        writeFileSync(file, `set -a fish_complete_path ${system}\ncomplete -C '${line}' | string split -f 1 \\t\n`);
        const { stdout, stderr } = await home().shell(`fish ${file}`, { env });
        expect(stderr, line).to.equal('');
        return stdout.split('\n').filter(Boolean);
      };
      expect(await completed('service postg')).to.deep.equal(['postgresql']);
      const { paths } = await home().json(['completion', 'fish', '--install', '--yes'], { env });
      const files = ['service.fish', 'board-service.fish'].map((name) => join(config, 'fish', 'completions', name));
      expect(paths).to.deep.equal(files);
      for (const program of ['service', 'board-service']) {
        expect(await completed(`${program} postg`), program).to.deep.equal([]);
        expect(await completed(`${program} board po`), program).to.deep.equal(['policy', 'post']);
      }
      expect(await completed('service say pol')).to.deep.equal([]);
      for (const verb of ['put', 'diff'])
        expect(await completed(`service file ${verb} pol`), verb).to.deep.equal(['policy.txt']);
      expect(await completed('service say --body-file=pol')).to.deep.equal(['--body-file=policy.txt']);
      await home().json(['uninstall', '--yes'], { env });
      expect(readdirSync(join(config, 'fish', 'completions'))).to.deep.equal([]);
      rmSync(join(home().work, 'policy.txt'));
    });

  it('remembers an answer for a minute', async () => {
    const first = await home().run(['complete', '--', 'board', 'delete', '']);
    await home().json(['board', 'create', 'later', '--no-link']);
    expect((await home().run(['complete', '--', 'board', 'delete', ''])).stdout).to.equal(first.stdout);
  });

  it('gives a shell nothing that it would run, whatever was saved as a name', async () => {
    const path = home().path('config', 'credentials.json');
    const before = readFileSync(path, 'utf8');
    const ran = join(home().dir, 'ran');
    const saved = JSON.parse(before);
    const [entry] = Object.values(saved.servers) as { seats: Record<string, { name: string }> }[];
    Object.values(entry!.seats)[0]!.name = `$(touch ${ran})`;
    writeFileSync(path, JSON.stringify(saved));
    expect(await offered('service read --as ')).to.deep.equal([]);
    expect(existsSync(ran)).to.equal(false);
    writeFileSync(path, before);
  });

  it('is silent where it fails, and starts no server', async () => {
    const fresh = new Home();
    try {
      const result = await fresh.run(['complete', '--', 'read', '--board', '']);
      expect(result).to.deep.equal({ code: 0, stdout: '', stderr: '' });
      const env = { SERVICE_TOKEN: `abh_${'x'.repeat(40)}`, SERVICE_SERVER: 'http://127.0.0.1:9' };
      for (const words of [['board', 'archive', ''], ['nonsense', ''], ['say', '--help', ''], ['']])
        expect(await fresh.run(['complete', '--', ...words], { env })).to.deep.equal({
          code: 0,
          stdout: '',
          stderr: '',
        });
      expect(existsSync(fresh.path('data'))).to.equal(false);
    } finally {
      await fresh.close();
    }
  });

  it('is installed once, after asking', async () => {
    const file = join(home().dir, '.bashrc');
    writeFileSync(file, 'alias ll="ls -l"');
    const refused = await home().run(['completion', 'bash', '--install', '--json']);
    expect(JSON.parse(refused.stdout).error.code).to.equal('confirmation_required');
    expect(readFileSync(file, 'utf8')).to.equal('alias ll="ls -l"');
    expect((await home().json(['completion', 'bash', '--install', '--yes'])).installed).to.equal(true);
    expect((await home().json(['completion', 'bash', '--install'])).installed).to.equal(false);
    expect(readFileSync(file, 'utf8')).to.equal(
      `alias ll="ls -l"\n${bashLine('service')} # completion of service, and the line break before\n`,
    );
  });

  it('is taken away by uninstall, which leaves the files of the shells byte for byte as they were', async () => {
    const machine = new Home();
    try {
      const files = { bash: '.bashrc', zsh: '.zshrc', powershell: '.config/powershell/profile.ps1' };
      const at = (path: string) => join(machine.dir, path);
      const before = ['alias ll="ls -l"', 'alias ll="ls -l"\n', '', null];
      for (const text of before) {
        for (const [shell, file] of Object.entries(files)) {
          mkdirSync(dirname(at(file)), { recursive: true });
          rmSync(at(file), { force: true });
          if (text !== null) writeFileSync(at(file), text);
          await machine.json(['completion', shell, '--install', '--yes']);
        }
        const dry = await machine.run(['uninstall', '--dry-run']);
        const action = text === null ? 'delete' : 'change';
        for (const file of Object.values(files)) expect(dry.stdout).to.include(`${action} ${at(file)} (completion)\n`);
        expect(dry.stdout).to.include('3 files have something of this program in them.\n');
        await machine.json(['uninstall', '--yes']);
        for (const file of Object.values(files))
          expect(existsSync(at(file)) ? readFileSync(at(file), 'utf8') : null, `${file} ${text}`).to.equal(text);
      }
      for (const text of ['first', 'first\n']) {
        writeFileSync(at('.bashrc'), text);
        await machine.json(['completion', 'bash', '--install', '--yes']);
        appendFileSync(at('.bashrc'), 'last\n');
        await machine.json(['uninstall', '--yes']);
        expect(readFileSync(at('.bashrc'), 'utf8')).to.equal('first\nlast\n');
      }
      const bytes = Buffer.from([0x23, 0xff, 0x0a]);
      writeFileSync(at('.bashrc'), bytes);
      await machine.json(['completion', 'bash', '--install', '--yes']);
      const left = await machine.json(['uninstall', '--data', '--yes']);
      expect(left.files).to.deep.equal([{ path: at('.bashrc'), kind: 'completion', action: 'unreadable' }]);
    } finally {
      machine.discard();
    }
  });

  it('is taken out of files of an earlier build, of another name and with other line ends, and reported only there', async () => {
    const machine = new Home();
    try {
      const at = (path: string) => join(machine.dir, path);
      const [fish, bash, zsh] = [at('.config/fish'), at('.bashrc'), at('.zshrc')];
      mkdirSync(join(fish, 'completions'), { recursive: true });
      writeFileSync(join(fish, 'config.fish'), 'set x 1\nservice completion fish | source # completion of service\n');
      await machine.json(['completion', 'fish', '--install', '--yes']);
      writeFileSync(bash, 'first');
      await machine.json(['completion', 'bash', '--install', '--yes']);
      writeFileSync(bash, readFileSync(bash, 'utf8').replaceAll('\n', '\r\n'));
      writeFileSync(zsh, '# completion of services that I run\n');
      const { stdout } = await machine.shell('board-service uninstall --yes --json');
      const { files } = JSON.parse(stdout) as { files: { path: string; action: string }[] };
      expect(files.map(({ path, action }) => `${action} ${path}`)).to.have.members([
        `update ${join(fish, 'config.fish')}`,
        `delete ${join(fish, 'completions', 'service.fish')}`,
        `delete ${join(fish, 'completions', 'board-service.fish')}`,
        `update ${bash}`,
      ]);
      expect(readFileSync(join(fish, 'config.fish'), 'utf8')).to.equal('set x 1\n');
      expect(readFileSync(bash, 'utf8')).to.equal('first');
      expect(readFileSync(zsh, 'utf8')).to.equal('# completion of services that I run\n');
    } finally {
      machine.discard();
    }
  });

  it('is refused for a file of a shell that cannot be read, over which uninstall does not fail', async () => {
    const machine = new Home();
    try {
      mkdirSync(join(machine.dir, '.zshrc'));
      await machine.json(['completion', 'bash', '--install', '--yes']);
      const refused = await machine.run(['completion', 'zsh', '--install', '--yes', '--json']);
      const { code, message, hint } = JSON.parse(refused.stdout).error;
      expect(code).to.equal('settings_unreadable');
      expect(message).to.equal(`${join(machine.dir, '.zshrc')} cannot be read, so nothing was added to it.`);
      expect(hint).to.equal('Make it a file that you can read; then run the command again');
      const { applied, files } = await machine.json(['uninstall', '--yes']);
      expect([applied, files.length, files[0].path]).to.deep.equal([true, 1, join(machine.dir, '.bashrc')]);
    } finally {
      machine.discard();
    }
  });

  it('says nothing in a shell that starts after the program is gone, or finds another one of the name', async () => {
    const file = join(home().dir, '.bashrc');
    writeFileSync(file, '');
    await home().json(['completion', 'bash', '--install', '--yes']);
    const other = join(home().dir, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'service'), '#!/bin/sh\necho "Usage: service" >&2\nexit 1\n', { mode: 0o755 });
    for (const PATH of ['/usr/bin:/bin', `${other}:/usr/bin:/bin`])
      for (const shell of ['bash', 'zsh'].filter((name) => findProgram(name, process.env))) {
        const { stdout, stderr } = await home().shell(`${shell} -c '. ${file}'`, { env: { PATH } });
        expect([stdout, stderr], `${shell} ${PATH}`).to.deep.equal(['', '']);
      }
  });

  if (process.platform === 'linux')
    it('into a home folder that cannot be written says what helps', async () => {
      const machine = new Home();
      try {
        const mount = `mount --bind ${machine.dir} ${machine.dir} && mount -o remount,bind,ro ${machine.dir}`;
        const { stderr } = await machine.shell(
          `unshare -rm sh -c '${mount} && service completion bash --install --yes'`,
        );
        expect(stderr).to.equal(
          `Error (folder_unwritable): ${join(machine.dir, '.bashrc')} cannot be used: the file system is read-only. Nothing was added to it.\nHint: Make it writable; then run the command again\n`,
        );
      } finally {
        machine.discard();
      }
    });

  it('is installed under the name that the program was called by', async () => {
    const file = join(home().dir, '.bashrc');
    writeFileSync(file, '');
    await home().shell('board-service completion bash --install --yes');
    expect(readFileSync(file, 'utf8')).to.equal(`${bashLine('board-service')} # completion of service\n`);
    expect((await home().shell(`bash -c '. ${file}'`)).stderr).to.equal('');
  });

  it('is installed by the whole path of a program that is on no path, as each shell runs one', async () => {
    const file = join(root, 'bin', 'run.js');
    for (const [shell, call] of [
      ['fish', file],
      ['powershell', `& '${file}'`],
    ]) {
      const args = ['completion', shell, '--install', '--yes', '--json'];
      const { stdout } = await home().shell(`cd ${join(root, 'bin')} && ./run.js ${args.join(' ')}`);
      expect(readFileSync(JSON.parse(stdout).paths[0], 'utf8')).to.contain(`${call} completion ${shell} 2>`);
    }
  });

  for (const shell of shells) {
    it(`knows every command in ${shell}, and is printed as it is generated`, async () => {
      const catalog = readCatalog(root);
      const script = completionScript(shell, catalog);
      for (const { id, flags } of visibleCommands(catalog)) {
        expect(script, id).to.include(`'${id.replaceAll(':', ' ')}'`);
        for (const { name, hidden } of Object.values(flags)) if (!hidden) expect(script).to.include(`--${name}`);
      }
      expect((await home().run(['completion', shell])).stdout).to.equal(script);
    });
  }
});
