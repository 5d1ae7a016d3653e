/** Nothing is started by a `service.yaml` that nobody has agreed to: a stranger's, or one in a folder for the first time. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { givenAway } from './support/foreign.ts';
import type { Home } from './support/home.ts';
import { addProfile, type TestLauncher } from './support/launched.ts';
import { BOT, swarmHome } from './support/swarm-home.ts';
import { typed } from './support/terminal.ts';

const WORDS = BOT.replace('cat', 'cat, "a b"');

describe('service swarm up in a folder for the first time', () => {
  let home: Home;
  let launcher: TestLauncher;
  const { write, errorOf } = swarmHome((world) => {
    ({ home, launcher } = world);
    world.write(WORDS);
  });
  const starts = () => launcher.asked('start').length;
  const up = ['swarm', 'up', '--wait', '0'];

  it('says what it would start and refuses, where nobody can be asked', async () => {
    const { exit, code, message, hint } = await errorOf(up);
    expect([exit, code, hint]).to.deep.equal([2, 'confirmation_required', 'Repeat it with --yes']);
    expect(message).to.include(`bot: cat 'a b' (local, in ${home.work})`).and.include('on demo of http');
    expect((await home.json(['board', 'list'])).boards).to.deep.equal([]);
    expect(starts()).to.equal(0);
  });

  it('shows the model and every word that a program is given, with a terminal and without one', async () => {
    addProfile(home, 'mine', {
      interactive: { start: ['cat', '{prompt}'] },
      headless: { via: 'native', run: ['cat', '-n', '{prompt}'], model: ['--model', '{model}'] },
    });
    const words = 'harness: mine, model: big, args: [--all, "--say={model}"]';
    write(
      `board: demo\nagents:\n  - {name: a, launcher: tmux, ${words}}\n  - {name: b, launcher: headless, ${words}}\n`,
    );
    const { message } = await errorOf(up);
    const given = "'{prompt}' --model big --all '--say={model}'";
    expect(message).to.include(`a: cat ${given} (tmux,`).and.include(`b: cat -n ${given} (headless,`);
  });

  it('asks at a terminal, and does nothing without a yes', async () => {
    const no = await typed(home, 'service swarm up --wait 0', [['Start it', 'n']]);
    expect(no).to.include(`bot: cat 'a b' (local, in ${home.work})`).and.include('Nothing changed.');
    expect(starts()).to.equal(0);
    await typed(home, 'service swarm up --wait 0', [['Start it', 'y']]);
    expect(starts()).to.equal(1);
  });

  it('is the only time it asks there, and other folders are others', async () => {
    await home.json([...up, '--yes']);
    await home.json(up);
    write(WORDS, 'other.yaml');
    await home.json([...up, '--file', 'other.yaml']);
    const other = join(home.work, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'service.yaml'), WORDS);
    const { code, stdout } = await home.run([...up, '--json'], { cwd: other });
    expect([code, JSON.parse(stdout).error.code]).to.deep.equal([2, 'confirmation_required']);
  });
});

describe('service.yaml of another user', () => {
  let home: Home;
  swarmHome((world) => {
    home = world.home;
    world.write(BOT);
  });

  it('is not obeyed in a folder above, and is where it is named', async () => {
    const path = join(home.work, 'service.yaml');
    const below = join(home.work, 'below');
    mkdirSync(below);
    const env = givenAway(path);
    for (const cwd of [home.work, below])
      for (const verb of ['up', 'show', 'ps']) {
        const { code, stdout } = await home.run(['swarm', verb, '--json'], { cwd, env });
        const { error } = JSON.parse(stdout);
        expect([code, error.code], verb).to.deep.equal([5, 'project_unsafe']);
        expect(error.message).to.include(path).and.include('another user');
        expect(error.hint).to.equal(`Look at it, and name it if you trust it: service swarm up --file ${path}`);
      }
    expect((await home.json(['swarm', 'show', '--file', path], { cwd: below, env })).board).to.equal('demo');
  });

  it('is not looked for above the root of a repository', async () => {
    const below = join(home.work, 'checkout', 'src');
    mkdirSync(below, { recursive: true });
    expect((await home.json(['swarm', 'show'], { cwd: below })).board).to.equal('demo');
    mkdirSync(join(dirname(below), '.git'));
    const { code, stdout } = await home.run(['swarm', 'show', '--json'], { cwd: below });
    expect([code, JSON.parse(stdout).error.code]).to.deep.equal([2, 'invalid_request']);
  });
});
