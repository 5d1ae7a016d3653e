/** Writing the brief of a board: a version for each change, and none where nothing changed. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { homeWithBoard } from './support/shared.ts';

describe('putting the brief', () => {
  const home = homeWithBoard('docs');
  const put = async (path: string, ...more: string[]) => {
    const { code, stdout } = await home().run(['brief', 'put', path, ...more]);
    return [code, stdout];
  };
  const write = (path: string, text: string) => writeFileSync(join(home().work, path), text);
  const versions = async () => (await home().json(['file', 'show', 'brief.md'])).file.latest.version;

  it('says where there is none how the same agent writes it', async () => {
    await home().json(['agent', 'create', 'scribe', '--board', 'docs']);
    const { stderr } = await home().run(['brief', 'show', '--as', 'scribe']);
    expect(stderr).to.include('Hint: Write one: service brief put brief.md --board docs --as scribe\n');
  });

  it('makes no version of bytes that are unchanged, and says so', async () => {
    write('b.md', 'Where we stand\n');
    expect(await put('b.md')).to.deep.equal([0, 'Saved brief.md v1 on docs\n']);
    expect(await put('b.md')).to.deep.equal([0, 'brief.md is unchanged at v1.\n']);
    expect(await put('b.md', '--replace-format')).to.deep.equal([0, 'brief.md is unchanged at v1.\n']);
    write('copy.md', 'Where we stand\n');
    expect(await put('copy.md', '--merge')).to.deep.equal([0, 'brief.md is unchanged at v1.\n']);
    expect(await home().json(['brief', 'put', 'b.md'])).to.deep.include({
      name: 'brief.md',
      version: 1,
      replaced: null,
    });
    expect(await versions()).to.equal(1);
    write('b.md', 'Further on\n');
    expect(await put('b.md')).to.deep.equal([0, 'Saved brief.md v2 on docs\n']);
    expect(await put('b.md', '--base', '2')).to.deep.equal([0, 'Saved brief.md v3 on docs\n']);
    write('b.html', 'Further on\n');
    expect((await put('b.html'))[0]).to.equal(7);
  });

  it('does not take a file that was removed for an unchanged one', async () => {
    for (const [command, path] of [
      ['brief', 'gone.md'],
      ['file', 'notes.txt'],
    ] as const) {
      write(path, `Once there: ${path}\n`);
      const { name, file } = await home().json([command, 'put', path]);
      await home().json(['file', 'remove', name ?? file.name, '--yes']);
      const { code, stdout } = await home().run([command, 'put', path, '--json']);
      const { code: error, hint } = JSON.parse(stdout).error;
      expect([code, error]).to.deep.equal([7, 'file_changed']);
      expect(hint).to.equal(`To put it there as new: service ${command} put ${path} --base 0`);
      expect((await home().run([command, 'put', path, '--base', '0'])).stdout).to.match(/^Saved \S+ v1 on docs\n$/);
    }
  });

  it('writes it as new where it was renamed', async () => {
    await home().json(['board', 'create', 'renamed']);
    const on = ['--board', 'renamed'];
    write('was.md', 'Once the brief\n');
    await home().json(['brief', 'put', 'was.md', ...on]);
    await home().json(['file', 'rename', 'brief.md', 'old.md', ...on]);
    for (const more of [[], ['--merge']]) {
      const { code, stderr } = await home().run(['brief', 'put', 'was.md', ...more, ...on]);
      expect([code, stderr.includes('brief.md is old.md now, at v1, written by ')], stderr).to.deep.equal([7, true]);
      expect(stderr).to.include('Hint: To put it there as new: service brief put was.md --board renamed --base 0\n');
    }
    const { stdout } = await home().run(['brief', 'put', 'was.md', '--base', '0', ...on]);
    expect(stdout).to.equal('Saved brief.md v1 on renamed\n');
  });

  it('does not replace a new brief with what was written against the one before it', async () => {
    await home().json(['board', 'create', 'anew']);
    const on = ['--board', 'anew'];
    await home().json(['agent', 'create', 'writer', ...on]);
    await home().json(['agent', 'create', 'other', ...on]);
    const as = (name: string, ...words: string[]) => home().run(['brief', ...words, ...on, '--as', name]);
    write('first.md', 'The first\n');
    await as('other', 'put', 'first.md');
    await as('writer', 'get', 'mine.md');
    await home().json(['file', 'remove', 'brief.md', '--yes', ...on, '--as', 'other']);
    write('second.md', 'The second\n');
    await as('other', 'put', 'second.md', '--base', '0');
    await as('writer', 'get', 'newer.md');
    write('mine.md', 'Written against the first\n');
    const { code, stderr } = await as('writer', 'put', 'mine.md');
    expect([code, stderr.split('\n', 1)[0]]).to.deep.equal([
      7,
      'Error (file_changed): brief.md is at v1, written by other just now; you replaced v1 of one that is gone.',
    ]);
    expect(stderr).to.include('Hint: Get it, put your change into it: service brief get OTHER');
    write('newer.md', 'Written against the second\n');
    expect((await as('writer', 'put', 'newer.md')).stdout).to.equal('Saved brief.md v2 on anew\n');
  });

  it('changes the format there and back from the same two files', async () => {
    await home().json(['board', 'create', 'formats']);
    const on = ['--board', 'formats'];
    write('page.md', 'One\n');
    expect((await put('page.md', ...on))[0]).to.equal(0);
    write('page.html', 'Two\n');
    expect((await put('page.html', '--replace-format', ...on))[0]).to.equal(0);
    write('page.md', 'Three\n');
    expect(await put('page.md', '--replace-format', ...on)).to.deep.equal([0, 'Saved brief.md v1 on formats\n']);
  });
});
