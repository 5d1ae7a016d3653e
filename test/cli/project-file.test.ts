/** Whose `.service` is obeyed, from where upward it is looked for, and what still works where it cannot be. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { givenAway } from './support/foreign.ts';
import { homeWithBoard } from './support/shared.ts';

describe('.service', () => {
  const home = homeWithBoard();
  let n = 0;

  /** A folder with such a file in it, and one below it. */
  function project(text: string): { folder: string; path: string; below: string } {
    const folder = join(home().dir, `project-${++n}`);
    const below = join(folder, 'below');
    mkdirSync(below, { recursive: true });
    const path = join(folder, '.service');
    writeFileSync(path, text);
    return { folder, path, below };
  }

  const linkTo = (board: string) => JSON.stringify({ server: 'local', board });

  it('of another user is not obeyed, and the error has the line that accepts what it says', async () => {
    await home().json(['board', 'create', 'second', '--no-link']);
    const { path, below } = project(linkTo('second'));
    const env = givenAway(path);
    for (const cwd of [below, join(below, '..')]) {
      const refused = await home().run(['read', '--json'], { cwd, env });
      const { error } = JSON.parse(refused.stdout);
      expect([refused.code, error.code]).to.deep.equal([5, 'project_unsafe']);
      expect(error.message).to.include(path).and.include('another user');
      expect(error.hint).to.equal('To accept what it says: service board link second --server local');
    }
    expect((await home().json(['read', '--board', 'second', '--server', 'local'], { cwd: below, env })).board).to.equal(
      'second',
    );
    const unlink = await home().run(['board', 'unlink', '--json'], { cwd: below, env });
    expect([unlink.code, existsSync(path)]).to.deep.equal([5, true]);
    await home().json(['board', 'link', 'second', '--server', 'local'], { cwd: below });
    expect((await home().json(['read'], { cwd: below })).board).to.equal('second');
  });

  it('may begin with a byte order mark, as editors on Windows write it', async () => {
    const { below } = project(`\ufeff${linkTo('demo')}`);
    expect((await home().json(['read'], { cwd: below })).board).to.equal('demo');
  });

  it('that another user put as a link to a file of mine is not obeyed', async () => {
    const { path: mine } = project(linkTo('demo'));
    const folder = join(home().dir, `project-${++n}`);
    mkdirSync(folder);
    const path = join(folder, '.service');
    symlinkSync(mine, path);
    const { stdout } = await home().run(['read', '--json'], { cwd: folder, env: givenAway(path) });
    expect(JSON.parse(stdout).error.code).to.equal('project_unsafe');
  });

  it('proposes nothing of what another user wrote that is no board or server', async () => {
    for (const text of [
      '{"server": "local; rm -rf ~", "board": "second"}',
      '{"server": "local", "board": "-x"}',
      'no',
    ]) {
      const { path, below } = project(text);
      const { stdout } = await home().run(['read', '--json'], { cwd: below, env: givenAway(path) });
      expect(JSON.parse(stdout).error.hint).to.equal('Link this folder yourself: service board link NAME');
    }
  });

  it('is not looked for above the root of a repository or the home folder, and only a file counts', async () => {
    const { folder, below } = project(linkTo('demo'));
    expect((await home().json(['status'], { cwd: below })).board_source).to.equal('project_file');
    mkdirSync(join(below, 'src'));
    mkdirSync(join(below, '.git'));
    expect((await home().json(['status'], { cwd: join(below, 'src') })).board_source).to.not.equal('project_file');
    writeFileSync(join(below, '.service'), linkTo('demo'));
    expect((await home().json(['status'], { cwd: join(below, 'src') })).board_source).to.equal('project_file');
    const tree = join(folder, 'worktree');
    mkdirSync(tree);
    writeFileSync(join(tree, '.git'), 'gitdir: elsewhere\n');
    execFileSync('mkfifo', [join(tree, '.service')]);
    expect((await home().json(['status'], { cwd: tree })).board_source).to.not.equal('project_file');
  });

  it('is not looked for above the home folder, however HOME names it', async () => {
    const { folder, below } = project(linkTo('demo'));
    const link = join(home().dir, `link-${++n}`);
    symlinkSync(below, link);
    const inside = join(below, 'src');
    mkdirSync(inside);
    for (const HOME of [below, `${below}/`, join(folder, 'other/..//below'), link]) {
      const { stdout } = await home().run(['status', '--json'], { cwd: inside, env: { HOME } });
      expect(JSON.parse(stdout).board_source, HOME).to.not.equal('project_file');
      await home().run(['board', 'create', `at-home-${++n}`], { cwd: below, env: { HOME } });
      expect(existsSync(join(below, '.service')), HOME).to.equal(false);
    }
  });

  it('that cannot be read breaks what needs it, and nothing else', async () => {
    const { path, below } = project('{"board": ');
    const run = (...args: string[]) => home().run([...args, '--json'], { cwd: below });
    for (const args of [['read'], ['board', 'list'], ['status']]) {
      const { code, stdout } = await run(...args);
      expect([code, JSON.parse(stdout).error.code], args.join(' ')).to.deep.equal([1, 'config_corrupt']);
      expect(JSON.parse(stdout).error.message).to.include(path);
    }
    const fine = [
      ['read', '--server', 'local', '--board', 'demo'],
      ['board', 'list', '--server', 'local'],
      ['board', 'create', `made-${n}`, '--server', 'local'],
      ['whoami', '--server', 'local'],
      ['servers', 'list'],
      ['version'],
    ];
    for (const args of fine) expect((await run(...args)).code, args.join(' ')).to.equal(0);
    await home().json(['board', 'link', 'demo', '--server', 'local'], { cwd: join(below, '..') });
    expect((await home().json(['read'], { cwd: below })).board).to.equal('demo');
  });

  it('that names what is not there is itself named in the error, and status goes on', async () => {
    const elsewhere = '{"server": "http://127.0.0.1:9", "board": "demo"}';
    for (const [text, code, hint] of [
      [
        linkTo('long-gone'),
        'board_not_found',
        'Link this folder to another: service board link NAME; or to none: service board unlink',
      ],
      [
        elsewhere,
        'server_unknown',
        'Sign in first: service login http://127.0.0.1:9; or unlink this folder: service board unlink',
      ],
    ] as const) {
      const { path, below } = project(text);
      const { stdout } = await home().run(['read', '--json'], { cwd: below });
      const { error } = JSON.parse(stdout);
      expect([error.code, error.hint]).to.deep.equal([code, hint]);
      expect(error.message)
        .to.match(/ is named in /)
        .and.to.include(path);
      const { problem, board } = await home().json(['status'], { cwd: below });
      expect([problem, board]).to.deep.equal([error, JSON.parse(text).board]);
      const asked = JSON.parse(
        (await home().run(['read', '-b', 'nowhere', '-s', 'local', '--json'], { cwd: below })).stdout,
      );
      expect(asked.error.message).to.not.include(path);
    }
  });

  it('that is not obeyed is found by doctor, with what mends it', async () => {
    const { path, below } = project('nothing of ours');
    const look = async (env = {}) => {
      const { checks } = JSON.parse((await home().run(['doctor', '--json'], { cwd: below, env })).stdout);
      return checks.find(({ name }: { name: string }) => name === 'project');
    };
    const found = await look();
    expect(found).to.include({ level: 'error', code: 'config_corrupt', fix: 'service board unlink' });
    await home().json(['board', 'unlink'], { cwd: below });
    expect(await look()).to.include({ level: 'ok' });
    writeFileSync(path, linkTo('demo'));
    const foreign = await look(givenAway(path));
    expect(foreign).to.include({ code: 'project_unsafe', fix: 'service board link demo --server local' });
    await home().json(['board', 'link', 'demo', '--server', 'local'], { cwd: below });
    expect(await look()).to.include({ level: 'ok' });
  });
});
