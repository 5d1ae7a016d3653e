/** Editing a file of a board at a terminal while somebody else writes it: the person decides, and no text is ever lost. */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { collect, type Home, until } from './support/home.ts';
import { homeWithBoard } from './support/shared.ts';

const DOWN = '\x1b[B';

describe('editing a file at a terminal', () => {
  const home = homeWithBoard('docs', { apart: true });
  let n = 0;
  before(() => home().json(['agent', 'create', 'codex']));

  /** A file, and an editor that changes it in one place while codex changes it in another. */
  async function contested(name: string, theirs: string): Promise<{ at: Home; cwd: string; editor: string }> {
    const at = home();
    const cwd = mkdtempSync(join(at.work, `edit-${++n}-`));
    const put = (text: string, more: string) => `printf '${text}' | service file put ${name} - -q --board docs ${more}`;
    expect((await at.shell(put('one\\ntwo\\nthree\\n', ''))).code).to.equal(0);
    const editor = join(cwd, 'editor.sh');
    const lines = ['#!/bin/sh', `[ -e ${cwd}/done ] && exit 0`, `touch ${cwd}/done`];
    lines.push(`printf 'one, mine\\ntwo\\nthree\\n' > "$1"`, put(theirs, '--replace --as codex'));
    writeFileSync(editor, `${lines.join('\n')}\n`);
    chmodSync(editor, 0o755);
    return { at, cwd, editor };
  }

  /** Runs the command on a terminal, types each answer once its question is there, and gives what was shown. */
  async function at(
    { at: where, cwd, editor }: { at: Home; cwd: string; editor: string },
    command: string,
    answers: [string, string][],
  ): Promise<{ shown: string; raw: string; code: number | null }> {
    const env = { TERM: 'xterm', EDITOR: editor, SERVICE_BOARD: 'docs' };
    const child = where.startShell(`exec script -qec '${command}' /dev/null`, { stdin: 'pipe', env, cwd });
    const printed = collect(child);
    const shown = () => printed().stdout.replaceAll(/\x1b\[[0-9;?]*[A-Za-z]/g, '');
    for (const [question, keys] of answers) {
      await until(`"${question}" is shown; so far: ${shown()}`, () => shown().includes(question));
      child.stdin?.write(keys);
    }
    await until(`it ends; so far: ${shown()}`, () => child.exitCode !== null);
    return { shown: shown(), raw: printed().stdout, code: child.exitCode };
  }

  const textOf = async (name: string) => (await home().run(['file', 'get', name, '-', '--board', 'docs'])).stdout;
  const copiesIn = (cwd: string) => readdirSync(cwd).filter((name) => name.includes('.edited-'));

  it('merges what both wrote', async () => {
    const world = await contested('merge.md', 'one\\ntwo\\nthree, theirs\\n');
    const { shown, code } = await at(world, 'service file edit merge.md', [['What now?', '\r']]);
    expect(shown).to.include('merge.md is at v2, written by codex').and.include('you replaced v1');
    expect([code, shown.includes('Saved merge.md v3 on docs')]).to.deep.equal([0, true]);
    expect(await textOf('merge.md')).to.equal('one, mine\ntwo\nthree, theirs\n');
    expect(copiesIn(world.cwd)).to.deep.equal([]);
  });

  it('gives both sides back to the editor where both changed the same, under one key too', async () => {
    const world = await contested('same.md', 'one, theirs\\ntwo\\nthree\\n');
    const { shown, code } = await at(world, 'service file edit same.md --idempotency-key same', [['What now?', '\r']]);
    expect(shown).to.include('1 conflict with v2');
    expect(code).to.equal(0);
    expect(await textOf('same.md')).to.match(/<<<<<<< yours\none, mine\n[\s\S]*one, theirs\n>>>>>>> v2\n/);
  });

  it('shows the difference before anything is overwritten, under one key too', async () => {
    const world = await contested('over.md', 'one, theirs\\ntwo\\nthree\\n');
    const answers: [string, string][] = [
      ['What now?', `${DOWN}\r`],
      ['Overwrite it?', `${DOWN}\r`],
    ];
    const { shown, code } = await at(world, 'service file edit over.md --idempotency-key over', answers);
    expect(shown).to.match(/-one, theirs\s+\+one, mine/);
    expect([code, await textOf('over.md')]).to.deep.equal([0, 'one, mine\ntwo\nthree\n']);
  });

  it('shows the difference with nothing in it that acts on the terminal', async () => {
    const world = await contested('acts.md', 'one\\033[8m\\033]52;c;aGk=\\007\\r\\ntwo\\nthree\\n');
    const answers: [string, string][] = [
      ['What now?', `${DOWN}\r`],
      ['Overwrite it?', `${DOWN}\r`],
    ];
    const { shown, raw } = await at(world, 'service file edit acts.md', answers);
    expect(shown).to.include('-one\\x1b[8m\\x1b]52;c;aGk=\\x07');
    expect(raw).to.not.match(/\x1b\[8m|\x1b\]|\x07/);
  });

  it('keeps a copy that can be put later, also where Ctrl-C answers the question', async () => {
    for (const [name, keys] of [
      ['keep.md', `${DOWN}${DOWN}\r`],
      ['stop.md', '\x03'],
    ] as const) {
      const world = await contested(name, 'one\\ntwo\\nthree, theirs\\n');
      const { shown, code } = await at(world, `service file edit ${name}`, [['What now?', keys]]);
      expect(code, name).to.equal(keys === '\x03' ? 130 : 7);
      const [copy = ''] = copiesIn(world.cwd);
      expect(readFileSync(join(world.cwd, copy), 'utf8')).to.equal('one, mine\ntwo\nthree\n');
      expect(shown).to.include(copy).and.include('service file put');
      expect(await textOf(name)).to.equal('one\ntwo\nthree, theirs\n');
      const put = await home().run(['file', 'put', copy, '--merge', '--board', 'docs'], { cwd: world.cwd });
      expect(put.stdout).to.equal(`Saved ${name} v3 on docs\n`);
      expect(await textOf(name)).to.equal('one, mine\ntwo\nthree, theirs\n');
    }
  });

  it('does the same for the brief, without a terminal too', async () => {
    const world = await contested('unused.md', 'unused');
    const brief = (text: string, more: string) =>
      `printf '${text}' > b.md && service brief put b.md -q --board docs ${more}`;
    await home().shell(brief('one\\ntwo\\nthree\\n', ''), { cwd: world.cwd });
    writeFileSync(
      world.editor,
      `#!/bin/sh\nprintf 'one, mine\\ntwo\\nthree\\n' > "$1"\nmkdir there && cd there && service brief get b.md -q --board docs --as codex && ${brief('one\\ntwo\\nthree, theirs\\n', '--as codex')}\n`,
    );
    const env = { EDITOR: world.editor };
    const refused = await home().run(['brief', 'edit', '--board', 'docs', '--json'], { cwd: world.cwd, env });
    const { error } = JSON.parse(refused.stdout);
    expect([refused.code, error.code]).to.deep.equal([7, 'file_changed']);
    const [copy = ''] = copiesIn(world.cwd);
    expect(error.details.path).to.equal(join(world.cwd, copy));
    expect(error.hint).to.equal(`service brief put ${error.details.path} --merge --board docs`);
    const put = await home().run(['brief', 'put', copy, '--merge', '--board', 'docs'], { cwd: world.cwd });
    expect(put.stdout).to.equal('Saved brief.md v3 on docs\n');
    expect(await textOf('brief.md')).to.equal('one, mine\ntwo\nthree, theirs\n');
  });

  it('keeps the text elsewhere where the folder cannot be written', async () => {
    if (process.platform !== 'linux') return;
    const { editor } = await contested('away.md', 'one\\ntwo\\nthree, theirs\\n');
    const charter = join(home().work, 'charter.sh');
    writeFileSync(charter, `#!/bin/sh\necho mine > "$1"\nservice board charter --set theirs -q --board docs\n`, {
      mode: 0o755,
    });
    for (const [command, EDITOR, code, text] of [
      ['file edit away.md', editor, 'file_changed', 'one, mine\ntwo\nthree\n'],
      ['board charter --edit', charter, 'stale', 'mine\n'],
    ] as const) {
      const args = [...command.split(' '), '--board', 'docs', '--json'];
      const { stdout } = await home().run(args, { cwd: '/proc', env: { EDITOR } });
      const { error } = JSON.parse(stdout);
      expect(error.code, command).to.equal(code);
      expect(error.hint).to.include(error.details.path);
      expect(readFileSync(error.details.path, 'utf8')).to.equal(text);
      rmSync(dirname(error.details.path), { recursive: true });
    }
  });

  it('keeps the text also where there is no room for a copy of it', async () => {
    if (process.platform !== 'linux') return;
    const disk = mkdtempSync(join(home().work, 'disk-'));
    const editor = join(home().work, 'filling.sh');
    const others = 'service board charter --set "by $$" -q --board docs';
    for (const fill of [
      `head -c 1000000 /dev/zero > ${disk}/full 2>/dev/null`,
      `n=0; while mkdir ${disk}/$n 2>/dev/null; do n=$((n+1)); done`,
    ]) {
      writeFileSync(editor, `#!/bin/sh\necho mine > "$1"\n${others}\n${fill}\nexit 0\n`, { mode: 0o755 });
      const edit = `cd /proc; TMPDIR=${disk} EDITOR=${editor} service board charter --edit --board docs --json`;
      const script = `mount -t tmpfs -o size=200k,nr_inodes=20 tmpfs ${disk}; ${edit}; cat ${disk}/service-edit-*/*`;
      const { stdout } = await home().shell(`unshare -rm sh -c '${script}'`);
      const [answer = '', text] = stdout.split('\n');
      expect([JSON.parse(answer).error.code, text], fill).to.deep.equal(['stale', 'mine']);
    }
  });

  it('keeps the text that was saved where the editor fails after that', async () => {
    const failing = (text: string) => {
      const editor = join(home().work, 'failing.sh');
      writeFileSync(editor, `#!/bin/sh\n${text}\nexit 1\n`, { mode: 0o755 });
      return { cwd: mkdtempSync(join(home().work, 'failing-')), env: { EDITOR: editor } };
    };
    await home().shell('printf one | service file put failing.md - -q --board docs');
    for (const [command, hint] of [
      ['file edit failing.md', 'service file get failing.md'],
      ['board charter --edit', '--file'],
    ] as const) {
      const run = async (at: ReturnType<typeof failing>) =>
        JSON.parse((await home().run([...command.split(' '), '--board', 'docs', '--json'], at)).stdout).error;
      const at = failing('echo mine > "$1"');
      const { code, details, hint: said } = await run(at);
      expect([code, readFileSync(details.path, 'utf8')], command).to.deep.equal(['editor_failed', 'mine\n']);
      expect(said).to.include(hint);
      expect(copiesIn(at.cwd).map((name) => join(at.cwd, name))).to.deep.equal([details.path]);
      for (const nothing of ['true', 'rm "$1"']) expect(await run(failing(nothing))).to.not.have.property('details');
    }
  });

  it('leaves the text of a charter where it is when Ctrl-C ends its saving', async () => {
    const server = home().serverPid() ?? 0;
    const begun = join(home().work, 'begun');
    const editor = join(home().work, 'still.sh');
    writeFileSync(editor, `#!/bin/sh\necho mine > "$1"\nkill -STOP ${server}\ntouch ${begun}\n`, { mode: 0o755 });
    const child = home().start(['board', 'charter', '--edit', '--board', 'docs'], { env: { EDITOR: editor } });
    const printed = collect(child);
    try {
      await until('the editor runs', () => existsSync(begun));
      // While the editor is open, Ctrl-C is for the editor.
      await until('it ends', () => child.kill('SIGINT') === false || child.exitCode !== null);
    } finally {
      process.kill(server, 'SIGCONT');
    }
    const [, path = ''] = /^Your text is still here: (.*)$/m.exec(printed().stderr) ?? [];
    expect([child.exitCode, readFileSync(path, 'utf8')]).to.deep.equal([130, 'mine\n']);
    rmSync(dirname(path), { recursive: true });
  });

  it('opens no vi where there is no terminal', async () => {
    const bin = mkdtempSync(join(home().work, 'vi-'));
    writeFileSync(join(bin, 'vi'), '#!/bin/sh\necho mine > "$1"\n', { mode: 0o755 });
    await home().shell('printf one | service file put unread.md - -q --board docs');
    const env = { VISUAL: '', EDITOR: '', PATH: `${bin}:${home().env.PATH}` };
    const run = (args: string[]) => home().run([...args, '--board', 'docs', '--json'], { env });
    for (const command of [
      ['file', 'edit', 'unread.md'],
      ['board', 'charter', '--edit'],
    ]) {
      const { stdout, code } = await run(command);
      expect([JSON.parse(stdout).error?.code, code], command[0]).to.deep.equal(['editor_failed', 1]);
    }
    expect(await textOf('unread.md')).to.equal('one');
  });

  it('names a way without an editor that the command has', async () => {
    await home().shell('printf one | service file put notes/way.md - -q --board docs');
    const env = { EDITOR: 'false' };
    const of = async (line: string[]) => (await home().run([...line, '--board', 'docs'], { env })).stderr;
    expect(await of(['file', 'edit', 'notes/way.md'])).to.match(
      /or change a copy: service file get notes\/way\.md --board docs$/m,
    );
    expect(await of(['brief', 'edit'])).to.match(/or change a copy: service brief get --board docs$/m);
    expect(await of(['board', 'charter', '--edit'])).to.match(/or give the text with --set or --file$/m);
  });
});
