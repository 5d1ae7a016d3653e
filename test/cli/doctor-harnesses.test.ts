/** What `service doctor` finds of agent programs: each thing that can be wrong, made wrong, named, and mended by the line it prints. */
import { mkdirSync, rmSync } from 'node:fs';
import { expect } from 'chai';
import { builtinProfile } from '../../src/harness/builtin.ts';
import { DoctorMachine, isWrong } from './support/doctor/machine.ts';

const claude = '.claude/settings.json';
const codex = '.codex/hooks.json';
const skill = '.claude/skills/service/SKILL.md';
const extension = '.omp/agent/extensions/service.ts';
const withoutHooks = (text: string) => text.replace(/"hooks"[\s\S]*/, '"model": "opus" }');

interface Case {
  code: string;
  level: 'warning' | 'error';
  /** What is wrong, where a code has several causes. */
  when: string;
  breaks(machine: DoctorMachine): void;
  /** Further codes that follow from the same. */
  also?: string[];
  /** What the message has to name. */
  names?: RegExp;
}

const cases: Case[] = [
  {
    code: 'claude-code_not_installed',
    level: 'warning',
    when: 'the program is gone',
    breaks: (machine) => rmSync(machine.at('bin/claude')),
  },
  {
    code: 'codex_not_installed',
    level: 'warning',
    when: 'the program is gone',
    breaks: (machine) => rmSync(machine.at('bin/codex')),
  },
  {
    code: 'omp_not_installed',
    level: 'warning',
    when: 'the program is gone',
    breaks: (machine) => rmSync(machine.at('bin/omp')),
  },
  {
    code: 'claude-code_outdated',
    level: 'warning',
    when: 'it is older than the least version',
    breaks: (machine) => machine.says('claude', '2.0.30 (Claude Code)'),
    // What was written for the newer version may make the older one ignore the file.
    also: ['claude-code_hooks_unsupported', 'hooks_outdated'],
  },
  {
    code: 'omp_outdated',
    level: 'warning',
    when: 'it is older than the least version',
    breaks: (machine) => machine.says('omp', 'omp/18.3.4'),
  },
  {
    code: 'codex_version_unknown',
    level: 'warning',
    when: 'it says no version',
    breaks: (machine) => machine.says('codex', null),
  },
  {
    code: 'codex_hooks_unsupported',
    level: 'warning',
    when: 'its version has no event of that name',
    breaks: (machine) => machine.says('codex', 'codex-cli 0.130.0'),
    also: ['hooks_outdated'],
    names: /Codex 0\.130\.0 has no SessionEnd \(The end of a session is only seen/,
  },
  {
    code: 'claude-code_hooks_missing',
    level: 'error',
    when: 'they were taken out of the settings',
    breaks: (machine) => machine.edit(claude, withoutHooks),
    also: ['claude-code_command_not_allowed'],
  },
  {
    code: 'codex_hooks_missing',
    level: 'error',
    when: 'their file was deleted',
    breaks: (machine) => rmSync(machine.at(codex)),
  },
  {
    code: 'extension_missing',
    level: 'error',
    when: 'it was deleted',
    breaks: (machine) => rmSync(machine.at(extension)),
  },
  {
    code: 'extension_outdated',
    level: 'warning',
    when: 'an earlier version wrote it',
    breaks: (machine) => machine.asEarlier(extension, 'file', '// earlier\n'),
  },
  {
    code: 'extension_edited',
    level: 'warning',
    when: 'its person changed it',
    breaks: (machine) => machine.edit(extension, (text) => `${text}// mine\n`),
  },
  {
    code: 'hooks_outdated',
    level: 'error',
    when: 'the script that they run is gone',
    breaks: (machine) => rmSync(machine.path('state', 'bin'), { recursive: true }),
  },
  {
    code: 'hooks_edited',
    level: 'warning',
    when: 'a time limit is another one',
    breaks: (machine) => machine.edit(claude, (text) => text.replace('86400', '5')),
  },
  {
    code: 'hooks_edited',
    level: 'warning',
    when: 'one of them was taken out, and the file written anew by its program',
    breaks: (machine) =>
      machine.edit(codex, (text) => {
        const { Stop: _, ...hooks } = JSON.parse(text).hooks;
        return JSON.stringify({ hooks });
      }),
  },
  {
    code: 'skill_outdated',
    level: 'warning',
    when: 'an earlier version wrote it',
    breaks: (machine) => machine.asEarlier(skill, 'skill', 'earlier\n'),
  },
  {
    code: 'skill_outdated',
    level: 'warning',
    when: 'it was deleted',
    breaks: (machine) => rmSync(machine.at(skill)),
  },
  {
    code: 'skill_edited',
    level: 'warning',
    when: 'its person changed it',
    breaks: (machine) => machine.edit(skill, (text) => text.replace('Boards', 'Walls')),
  },
  {
    code: 'settings_unreadable',
    level: 'error',
    when: 'they do not parse',
    breaks: (machine) => machine.edit(claude, () => '{ "hooks": '),
  },
  {
    code: 'settings_commented',
    level: 'error',
    when: 'a comment makes the program skip them',
    breaks: (machine) => machine.edit(claude, (text) => `// mine\n${text}`),
    names: /settings\.json has comments or spare commas, so its program skips the whole file/,
  },
  {
    code: 'claude-code_command_not_allowed',
    level: 'warning',
    when: 'the rule was taken out',
    breaks: (machine) => machine.edit(claude, (text) => text.replace('Bash(service *)', 'Bash(ls)')),
  },
  {
    code: 'codex_command_not_allowed',
    level: 'warning',
    when: 'the rule says something else',
    breaks: (machine) => machine.edit('.codex/rules/service.rules', (text) => text.replace('allow', 'prompt')),
  },
  {
    code: 'path_conflict',
    level: 'error',
    when: 'another program of that name comes first, and agents may run it',
    breaks: (machine) => {
      mkdirSync(machine.at('other'));
      machine.put('other/service', '#!/bin/sh\n', 0o755);
      machine.put('.profile', `PATH=${machine.at('other')}:$PATH\n`);
    },
    names: /is .*\/other\/service, not this program, and agents may run it unasked/,
  },
  {
    code: 'queue_missing',
    level: 'error',
    when: 'the program has no such command',
    breaks: (machine) => machine.mark('codex.queueless'),
  },
  {
    code: 'profile_invalid',
    level: 'warning',
    when: 'a file in the config folder is no profile',
    breaks: (machine) => machine.put('store/config/harnesses/mine.json', '{}'),
    names: /mine\.json is no profile/,
  },
];

describe('service doctor on agent programs', () => {
  let machine: DoctorMachine | null = null;
  const here = () => machine!;
  /** Each test leaves it as it was, so the next one goes on with it; one that failed leaves another. */
  beforeEach(async () => {
    if (machine) return;
    machine = new DoctorMachine();
    await machine.json(['init', '--yes', '--allow-commands']);
    await machine.json(['daemon', 'start']);
    expect(await machine.codes()).to.deep.equal([]);
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await drop();
  });
  after(() => drop());
  async function drop() {
    await machine?.close();
    machine = null;
  }

  for (const { code, level, when, breaks, also = [], names } of cases)
    it(`names ${code} when ${when}, and prints what mends it`, async () => {
      breaks(here());
      const findings = (await here().doctor()).filter(isWrong);
      expect([...new Set(findings.map((finding) => finding.code))]).to.have.members([code, ...also]);
      const found = findings.find((finding) => finding.code === code)!;
      expect(found.level).to.equal(level);
      if (names) expect(found.message).to.match(names);
      await here().mend(found.fix!);
      const left = (await here().doctor()).filter(isWrong);
      expect(left.map((finding) => finding.code)).to.not.include(code);
      for (const { fix } of left) await here().mend(fix!);
      expect(await here().codes()).to.deep.equal([]);
    });

  it('says nothing of programs that are not here and for which nothing was set up', async () => {
    const bare = new DoctorMachine();
    for (const name of ['codex', 'omp']) rmSync(bare.at('bin', name));
    const found = (await bare.doctor()).filter(isWrong);
    expect(found.map(({ name, code, level }) => [name, code, level])).to.deep.equal([
      ['claude-code', 'claude-code_hooks_missing', 'warning'],
    ]);
    rmSync(bare.at('bin/claude'));
    expect(await bare.codes()).to.deep.equal([]);
    bare.install('claude');
    await bare.mend(found[0]!.fix!);
    await bare.json(['daemon', 'start']);
    const after = await bare.doctor();
    expect(after.filter(isWrong).map(({ code }) => code)).to.deep.equal(['claude-code_command_not_allowed']);
    expect(after.find(({ name }) => name === 'claude-code')?.fix).to.equal(
      'service init --yes --harness claude-code --allow-commands',
    );
    await bare.close();
  });

  it('wants the hooks that a newer version knows, and takes them for outdated, not for edited', async () => {
    here().says('claude', '2.0.30 (Claude Code)');
    await here().json(['init', '--yes']);
    here().says('claude', '2.1.197 (Claude Code)');
    const found = (await here().doctor()).filter(isWrong);
    expect(found.map(({ code, level }) => [code, level])).to.deep.equal([['hooks_outdated', 'warning']]);
    await here().mend(found[0]!.fix!);
    expect(await here().codes()).to.deep.equal([]);
  });

  const unasked: { name: string; path: string; text: string; asks?: true }[] = [
    { name: 'claude-code', path: '.claude/settings.json', text: '{"permissions": {"allow": ["Bash"]}}' },
    { name: 'claude-code', path: '.claude/settings.json', text: '{"permissions": {"allow": ["Read", "Bash(*)"]}}' },
    {
      name: 'claude-code',
      path: '.claude/settings.json',
      text: '{"permissions": {"defaultMode": "bypassPermissions"}}',
    },
    {
      name: 'claude-code',
      path: '.claude/settings.json',
      text: '{"permissions": {"allow": ["Bash(ls)"]}}',
      asks: true,
    },
    {
      name: 'codex',
      path: '.codex/config.toml',
      text: 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n',
    },
    { name: 'codex', path: '.codex/config.toml', text: 'approval_policy = "never" # mine\n' },
    { name: 'codex', path: '.codex/config.toml', text: 'approval_policy = "on-request"\n', asks: true },
    { name: 'codex', path: '.codex/config.toml', text: 'default_permissions = ":danger-full-access"\n' },
    {
      name: 'codex',
      path: '.codex/config.toml',
      text: 'approval_policy = "untrusted"\nsandbox_mode = "danger-full-access"\n',
      asks: true,
    },
    {
      name: 'codex',
      path: '.codex/config.toml',
      text: '# sandbox_mode = "danger-full-access"\n[profiles.x]\nsandbox_mode = "danger-full-access"\n',
      asks: true,
    },
  ];
  for (const { name, path, text, asks = false } of unasked)
    it(`${asks ? 'says' : 'does not say'} that commands are not allowed in ${name} with ${JSON.stringify(text)}`, async () => {
      const bare = new DoctorMachine();
      bare.put(path, text);
      await bare.json(['init', '--yes', '--harness', name]);
      const codes = await bare.codes();
      expect(codes.includes(`${name}_command_not_allowed`)).to.equal(asks);
      await bare.close();
    });

  it('says of a version newer than any that was tested that it is one, and that the program is set up', async () => {
    here().says('claude', '9.1.0 (Claude Code)');
    await here().json(['init', '--yes']);
    const found = (await here().doctor()).filter(({ name }) => name === 'claude-code');
    expect(found.map(({ level, code, fix }) => [level, code, fix])).to.deep.equal([
      ['note', 'harness_version_untested', null],
      ['ok', null, null],
    ]);
    const proved = builtinProfile('claude-code')!.checks.proved_version!;
    expect(found[0]!.message).to.include('Claude Code 9.1.0').and.include(proved);
    const { warnings } = await here().json(['init', '--harness', 'claude-code']);
    expect(warnings.map(({ code, message }: { code: string; message: string }) => [code, message])).to.deep.equal([
      ['harness_version_untested', found[0]!.message],
    ]);
    here().says('claude', `${proved} (Claude Code)`);
    expect(await here().codes()).to.deep.equal([]);
  });

  it('looks at projects too, and mends them from anywhere', async () => {
    const project = here().at('a project');
    mkdirSync(project);
    await here().json(['init', '--yes', '--scope', 'project', '--harness', 'claude-code'], { cwd: project });
    expect(await here().codes()).to.deep.equal([]);
    rmSync(here().at('a project/.claude/settings.local.json'));
    const [gone] = (await here().doctor()).filter(isWrong);
    expect(gone).to.include({ code: 'claude-code_hooks_missing', level: 'error' });
    await here().mend(gone!.fix!);
    expect(here().text('a project/.claude/settings.local.json')).to.include('hook claude-code wait');
    expect(await here().codes()).to.deep.equal([]);
    // Whoever deletes a project needs no advice about it.
    rmSync(project, { recursive: true });
    expect(await here().codes()).to.deep.equal([]);
  });

  it('puts this program first where the person’s own shell reads it', async () => {
    const bare = new DoctorMachine();
    bare.env.SHELL = '/bin/bash';
    bare.env.SERVICE_HOME = bare.at('a "home"');
    await bare.json(['init', '--yes', '--harness', 'codex']);
    bare.put('.bash_profile', 'PATH=/usr/bin:/bin\n');
    const { fix, message } = await bare.names('path_conflict', 'warning');
    expect(message).to.include('finds no "service"');
    await bare.mend(fix);
    expect(bare.text('.bash_profile')).to.match(/^export PATH='.*\/a "home"\/state\/bin':"\$PATH"$/m);
    expect(await bare.codes()).to.not.include('path_conflict');
    await bare.close();
  });

  it('with --fix refreshes what it has written, not what was edited, and nothing in a session', async () => {
    here().asEarlier(skill, 'skill', 'earlier\n');
    rmSync(here().at(extension));
    here().edit(codex, (text) => text.replace(/"timeout": ?30/, '"timeout": 29'));
    await here().doctor(['--fix'], { CLAUDECODE: '1' });
    expect(here().text(skill)).to.equal('earlier\n');
    const { stdout } = await here().run(['doctor', '--fix', '--json']);
    expect(JSON.parse(stdout).fixed).to.have.members([
      `refreshed ${here().at(skill)}`,
      `refreshed ${here().at(extension)}`,
    ]);
    expect(here().text(skill)).to.include('# Boards');
    const left = (await here().doctor()).filter(isWrong);
    expect(left.map(({ code }) => code)).to.deep.equal(['hooks_edited']);
    await here().mend(left[0]!.fix!);
    expect(await here().codes()).to.deep.equal([]);
  });
});
