/** The README's tour, played from top to bottom in one clean home: what it shows is what happens. */
import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { findProgram } from '../../src/harness/programs.ts';
import { collect, finished, Home, type Result, root, until } from './support/home.ts';
import { LaunchedPrograms } from './support/launched.ts';
import { swarmHome } from './support/swarm-home.ts';

const readme = readFileSync(join(root, 'README.md'), 'utf8');
const tour = [...readme.matchAll(/```console\n([\s\S]*?)```/g)].map((match) => match[1] ?? '').join('');

interface Step {
  command: string;
  shown: string;
}

function steps(): Step[] {
  return tour
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...shown] = part.split('\n');
      return { command, shown: shown.join('\n') };
    });
}

/** What differs from machine to machine: the port, the person's name, folders, hashes. */
function plain(text: string, person: string): string {
  return text
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:7400')
    .replace(/sha256:[0-9a-f]+/g, 'sha256:0123456789ab')
    .replace(/\/\S+\/credentials\.json/g, '~/.config/service/credentials.json')
    .replaceAll(`@${person}`, '@dana');
}

/** Without the room that names of other lengths take in columns. */
const narrow = (text: string): string => text.trimEnd().replace(/(?<=\S) {2,}/g, '  ');

/** jq, where the machine has none. */
function prepare(home: Home): void {
  if (spawnSync('jq', ['--version'], { env: home.env }).error) {
    symlinkSync(join(root, 'test', 'cli', 'support', 'jq.mjs'), join(home.dir, 'bin', 'jq'));
  }
}

describe('the README', () => {
  const home = new Home({ bare: true, shared: true });
  before(() => prepare(home));
  after(() => home.close());

  it('has a tour', () => {
    expect(steps().length).to.be.greaterThan(8);
  });

  it('shows what its commands print', async () => {
    const { stdout } = await home.shell('service whoami --json');
    const person = (JSON.parse(stdout) as { me: { name: string } }).me.name;
    await home.shell('service server stop');
    for (const { command, shown } of steps()) {
      const written = command.replaceAll('@dana', `@${person}`);
      const done = shown.endsWith('^C\n')
        ? await interrupted(written, shown)
        : await home.shell(`exec 2>&1\n${written}`);
      // At a terminal both streams are seen; that the server was started is said once and not part of the tour.
      const said = done.stdout.replace(/^Started the local server.*\n/m, '');
      const exit = done.code === 0 ? '' : `[exit ${done.code}]\n`;
      expect(narrow(plain(said + exit, person)), `$ ${command}`).to.equal(narrow(shown));
    }
  });

  it('names jq, and where it comes from, before it is used', () => {
    expect(readme.slice(0, readme.indexOf('| jq')))
      .to.include('https://jqlang.org')
      .and.include('`apt install jq`');
  });

  it('gets a file by the name under which it was put', async () => {
    const [, put = '', get = ''] = /^\| a file everybody has .*?`(.+?)`, `(.+?)`/m.exec(readme) ?? [];
    const file = put.replace('service file put ', '');
    const script = `mkdir -p notes far && echo "The valve." > ${file} && ${put} && cd far && ${get} -`;
    expect((await home.shell(script)).stdout).to.include('The valve.');
  });

  const curl = findProgram('curl', process.env);
  it(`posts by HTTP, once however often it is sent${curl ? '' : ' (curl is not installed)'}`, async () => {
    if (!curl) return;
    const [, newKey = '', request = ''] = /```sh\n(\(umask .*\n)(curl [\s\S]*?)```/.exec(readme) ?? [];
    const { ui_url: origin } = await home.json(['server', 'start']);
    const sent = request.replace('http://127.0.0.1:7400', origin);
    const { stdout } = await home.shell(`${newKey}ls -l ci-key; ${sent}echo; ${sent}`);
    const [mode = '', first = '', second] = stdout.split('\n');
    expect(mode).to.match(/^-rw------- /);
    expect(JSON.parse(first)).to.include({ body: 'Build 17 failed' });
    expect(second).to.equal(first);
  });

  /** Lets a command run until it has printed as much as is shown, and then ends it as Ctrl-C does. */
  async function interrupted(command: string, shown: string): Promise<Result> {
    const child = home.startShell(command, { group: true });
    const printed = collect(child);
    const lines = shown.split('\n').length - 2;
    await until(`${command} prints ${lines} lines`, () => printed().stdout.split('\n').length > lines);
    process.kill(-(child.pid ?? 0), 'SIGINT');
    await finished(child);
    return { ...printed(), stdout: `${printed().stdout}^C`, code: 0 };
  }
});

describe('the README’s service.yaml', () => {
  let home: Home;
  const { write } = swarmHome((world) => {
    home = world.home;
  });
  const file = /```yaml\n(# service\.yaml\n[\s\S]*?)```/.exec(readme)?.[1] ?? '';
  // As the programs of agents, tmux is tested where it is.
  const only = findProgram('tmux', process.env) ? [] : ['--only', 'triage'];

  it('starts its agents, with the program that lies beside it', async () => {
    await new LaunchedPrograms(home).place('claude-code');
    write(file);
    writeFileSync(join(home.work, 'answer.sh'), '#!/bin/sh\ncat >given; pwd >where; echo "A new valve."\n', {
      mode: 0o755,
    });
    const up = await home.json(['swarm', 'up', '--yes', ...only]);
    expect(up.agents.map(({ seated }: { seated: boolean }) => seated)).to.deep.equal(up.agents.map(() => true));
    const { reply } = await home.json([
      'say',
      'the tap drips',
      '-b',
      up.board,
      '--to',
      '@triage',
      '--wait-reply',
      '30',
    ]);
    expect([reply?.body, reply?.from.name]).to.deep.equal(['A new valve.', 'triage']);
    expect(readFileSync(join(home.work, 'given'), 'utf8')).to.include('the tap drips');
    expect(readFileSync(join(home.work, 'where'), 'utf8').trim()).to.equal(home.work);
  });
});
