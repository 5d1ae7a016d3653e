/** Putting a file that somebody else changed: each refusal names a command that goes on. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { homeWithBoard } from './support/shared.ts';

describe('putting a file that was changed', () => {
  const home = homeWithBoard('docs');
  before(() => home().json(['agent', 'create', 'codex']));

  const write = (path: string, text: string) => writeFileSync(join(home().work, path), text);
  const put = (...words: string[]) => home().run(['file', 'put', ...words]);
  const byCodex = (name: string, text: string) =>
    home().shell(`printf '${text}' | service file put ${name} - --as codex --replace`);

  it('offers to merge only where the same file is there', async () => {
    write('notes.md', 'one\n');
    await put('notes.md');
    await home().json(['file', 'remove', 'notes.md', '--yes']);
    await byCodex('notes.md', 'theirs');
    write('notes.md', 'mine\n');
    for (const more of [[], ['--merge']]) {
      const { code, stderr } = await put('notes.md', ...more);
      expect(code).to.equal(7);
      expect(stderr).to.include('Hint: Get it, put your change into it: service file get notes.md OTHER\n');
    }
    expect((await home().run(['file', 'get', 'notes.md', 'other.md'])).code).to.equal(0);
    write('other.md', 'both\n');
    expect((await put('other.md')).stdout).to.equal('Saved notes.md v2 on docs\n');
  });

  it('merges with the version that --base names', async () => {
    for (const text of ['one\\ntwo\\nthree\\n', 'one\\ntwo\\nthree, theirs\\n']) await byCodex('plan.md', text);
    write('mine.md', 'one, mine\ntwo\nthree\n');
    const words = ['mine.md', '--name', 'plan.md'];
    const { code, stderr } = await put(...words, '--base', '1');
    expect(code).to.equal(7);
    expect(stderr).to.include('Hint: service file put mine.md --name plan.md --base 1 --merge\n');
    expect((await put(...words, '--base', '1', '--merge')).stdout).to.equal('Saved plan.md v3 on docs\n');
    expect((await home().run(['file', 'get', 'plan.md', '-'])).stdout).to.equal('one, mine\ntwo\nthree, theirs\n');
  });

  it('gets what is there beside a file of that name that one wrote oneself', async () => {
    await byCodex('report.md', 'theirs');
    write('report.md', 'mine');
    const { code, stderr } = await put('report.md');
    expect(code).to.equal(7);
    expect(stderr).to.include('Hint: Get it, put your change into it: service file get report.md OTHER\n');
    expect((await home().run(['file', 'get', 'report.md', 'theirs.md'])).code).to.equal(0);
  });

  it('notes with --replace what is there already', async () => {
    await byCodex('same.md', 'same');
    write('same.md', 'same');
    expect((await put('same.md', '--replace')).stdout).to.equal('same.md is unchanged at v1.\n');
    write('same.md', 'changed');
    expect((await put('same.md')).stdout).to.equal('Saved same.md v2 on docs\n');
  });

  it('says how an older version that was got is put back', async () => {
    for (const [file, got] of [
      ['old.md', 'file'],
      ['brief.md', 'brief'],
    ] as const) {
      for (const text of ['one', 'two']) {
        write(file, text);
        await home().json([got, 'put', file]);
      }
      await home().json(['file', 'get', `${file}@1`, file]);
      const { stdout, stderr } = await home().run([got, 'put', file]);
      expect(stdout).to.equal(`${file} is unchanged at v1.\n`);
      const back = `service ${got} put ${file} --base 2`;
      expect(stderr).to.equal(`Warning: The board is at v2.\nHint: To put v1 back: ${back}\n`);
      expect((await home().shell(back)).stdout).to.equal(`Saved ${file} v3 on docs\n`);
      expect((await home().run(['file', 'get', file, '-'])).stdout).to.equal('one');
      expect((await home().run([got, 'put', file])).stderr).to.equal('');
    }
  });
});
