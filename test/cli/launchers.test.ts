/** What starts the programs of agents: the protocol with programs of others, tmux as it is on this machine, and the background. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { findProgram } from '../../src/harness/programs.ts';
import { externalLauncher } from '../../src/launch/external.ts';
import { headlessLauncher } from '../../src/launch/headless.ts';
import { type Launcher, readAnswer, type StartRequest } from '../../src/launch/protocol.ts';
import { tmuxLauncher } from '../../src/launch/tmux.ts';
import type { Failure } from '../../src/local/failure.ts';
import { alive } from '../../src/local/process.ts';
import { processRef } from '../../src/local/process-ref.ts';
import { root, until } from './support/home.ts';

let dir: string;
let bin: string;
let env: Record<string, string>;

function program(name: string, script: string): string {
  const path = join(bin, name);
  writeFileSync(path, script.startsWith('#!') ? script : `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

async function failure(work: Promise<unknown>): Promise<Failure> {
  try {
    await work;
  } catch (error) {
    return error as Failure;
  }
  throw new Error('nothing failed');
}

const codeOf = async (work: Promise<unknown>): Promise<string> => (await failure(work)).code;
const read = (name: string) => readFileSync(join(dir, name), 'utf8');
const wish = (argv: string[], more: Partial<StartRequest> = {}): StartRequest => ({
  swarm: 'demo-1a2b3c',
  agent: 'bot',
  harness: 'command',
  mode: 'headless',
  argv,
  env: { PATH: env.PATH!, GIVEN: 'a "b" $c' },
  dir,
  ...more,
});
const place = (handle: string) => ({ swarm: 'demo-1a2b3c', agent: 'bot', handle });

describe('launchers', function () {
  this.timeout(60_000);
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'board-launch-'));
    bin = join(dir, 'bin');
    mkdirSync(bin);
    env = {
      HOME: dir,
      TMUX_TMPDIR: dir,
      PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`,
      SERVICE_TOKEN: `abh_${'x'.repeat(43)}`,
      CLAUDECODE: '1',
    };
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  describe('of others', () => {
    const launcher = (script: string, ms?: number): Launcher => {
      program('service-launcher-mine', script);
      return externalLauncher('mine', env, ms);
    };

    it('get one JSON request, without a token or a mark of another session, and answer one', async () => {
      const mine = launcher(
        `cat >"$HOME/asked"; env >"$HOME/env"; echo '{"v":1,"handle":"h 1","attach":"look","pid":12,"more":true}'`,
      );
      const answer = await mine.start(wish(['a', 'b c']));
      expect(answer).to.deep.equal({ handle: 'h 1', attach: 'look', pid: 12 });
      expect(read('asked').trimEnd().split('\n')).to.have.length(1);
      expect(JSON.parse(read('asked'))).to.deep.equal({ v: 1, op: 'start', ...wish(['a', 'b c']) });
      expect(read('env')).not.to.match(/SERVICE_TOKEN|abh_|CLAUDECODE/);
    });

    it('say what they can do, how an agent stands, and that it has ended', async () => {
      const mine = launcher(
        `case "$(cat)" in
          *'"op":"info"'*) echo '{"name":"mine","modes":["headless"]}';;
          *'"op":"status"'*) echo '{"state":"running","blocked":"asks for leave"}';;
          *'"op":"stop"'*) echo '{"state":"exited"}';;
        esac`,
      );
      expect(await mine.info({})).to.deep.equal({ name: 'mine', modes: ['headless'] });
      expect(await mine.status(place('h'))).to.deep.equal({ state: 'running', blocked: 'asks for leave' });
      expect(await mine.stop(place('h'))).to.deep.equal({ state: 'exited' });
    });

    it('refuse with the codes of the protocol; anything else is a failure of theirs', async () => {
      const refusing = (code: string) => launcher(`cat >/dev/null; echo '{"error":{"code":"${code}","message":"no"}}'`);
      for (const code of ['invalid_request', 'mode_unsupported', 'already_running', 'host_unavailable', 'start_failed'])
        expect(await codeOf(refusing(code).info({})), code).to.equal(code);
      for (const code of ['launcher_failed', 'login_required'])
        expect(await codeOf(refusing(code).info({})), code).to.equal('launcher_failed');
      const version = await failure(launcher(`echo '{"v":2,"name":"mine","modes":["headless"]}'`).info({}));
      expect([version.code, version.message]).to.deep.equal([
        'launcher_protocol_mismatch',
        'The launcher mine speaks version 2 of the protocol; this program speaks 1.',
      ]);
    });

    it('fail when they end badly, say nothing that is an answer, or are not there', async () => {
      for (const script of [
        'echo "out of luck" >&2; exit 3',
        'kill -9 $$',
        'echo hello',
        'echo "[1]"',
        `echo '{"name":"mine","modes":[]}'`,
        `echo '{"name":"mine","modes":["other"]}'`,
        '#!/nowhere/interpreter',
      ])
        expect(await codeOf(launcher(script).info({})), script).to.equal('launcher_failed');
      const { message } = await failure(launcher('echo "out of luck" >&2; exit 3').info({}));
      expect(message).to.equal('The launcher mine ended with exit 3: out of luck (info).');
      expect(() => externalLauncher('absent', env)).to.throw(/no program service-launcher-absent on PATH/);
    });

    it('are killed with what they started when they take too long', async () => {
      const { code, message } = await failure(launcher('sleep 100 & echo $! >"$HOME/pid"; wait', 300).info({}));
      expect([code, message]).to.deep.equal([
        'launcher_failed',
        'The launcher mine did not answer within 0.3 seconds (info).',
      ]);
      await until('the end of what it started', () => !alive(Number(read('pid'))));
    });

    it('have answered when they end, also where what they started keeps their output open', async () => {
      const mine = launcher(`sleep 30 & echo $! >"$HOME/pid"; echo '{"handle":"é"}'`);
      expect(await mine.start(wish(['a']))).to.deep.equal({ handle: 'é' });
      process.kill(Number(read('pid')), 'SIGKILL');
    });

    it('may say how what runs already is found', () => {
      const output = '{"error":{"code":"already_running","message":"it runs","handle":"h","attach":"look"}}';
      expect(() => readAnswer('start', 'mine', output))
        .to.throw()
        .with.deep.property('details', { handle: 'h', attach: 'look' });
    });
  });

  it('of others can be written as docs/launchers.md says', async () => {
    const page = readFileSync(join(root, 'docs', 'launchers.md'), 'utf8');
    program('service-launcher-systemd', /```js\n([\s\S]*?)```/.exec(page)![1]!);
    // As much of systemd as it asks for: a unit is a process whose number is noted.
    program(
      'systemctl',
      'case "$*" in *is-active*) kill -0 "$(cat "$HOME/unit")" 2>/dev/null;; *) kill "$(cat "$HOME/unit")";; esac',
    );
    program(
      'systemd-run',
      'while [ "$1" != -- ]; do echo "$1" >>"$HOME/options"; shift; done; shift\n"$@" & echo $! >"$HOME/unit"',
    );
    const own = externalLauncher('systemd', env);
    expect(await own.info({})).to.deep.equal({ name: 'systemd', modes: ['headless'] });
    const { handle } = await own.start(wish(['sleep', '60']));
    expect(read('options')).to.include(`--working-directory=${dir}\n`).and.include('--setenv=GIVEN=a "b" $c\n');
    expect(await own.status(place(handle))).to.deep.equal({ state: 'running' });
    const { code, details } = await failure(own.start(wish(['sleep', '60'])));
    expect([code, details?.handle]).to.deep.equal(['already_running', handle]);
    expect(await own.stop(place(handle))).to.deep.equal({ state: 'exited' });
    await until('its end', async () => (await own.status(place(handle))).state === 'exited');
    expect(await own.stop(place(handle)), 'again').to.deep.equal({ state: 'exited' });
    program('systemd-run', 'exit 1');
    expect(await codeOf(own.start(wish(['sleep', '60'])))).to.equal('start_failed');
  });

  describe('headless', () => {
    const launcher = () => headlessLauncher(join(dir, 'swarms'), env);
    const log = () => readFileSync(join(dir, 'swarms', 'demo-1a2b3c', 'bot.log'), 'utf8');

    it('runs a program as it is given in the background, and writes a log that is nobody else’s', async () => {
      const path = program('mine', 'printf "%s|" "$0" "$@" "$GIVEN" "$PWD" "$SERVICE_TOKEN$CLAUDECODE"; exec sleep 60');
      const own = launcher();
      const { handle, attach, pid } = await own.start(wish(['mine', '$(touch x)', '; rm']));
      await until('its words', () => log().endsWith('||'));
      expect(log()).to.equal(`${path}|$(touch x)|; rm|a "b" $c|${dir}||`);
      expect(attach).to.equal(`tail -f '${join(dir, 'swarms', 'demo-1a2b3c', 'bot.log')}'`);
      expect(statSync(join(dir, 'swarms', 'demo-1a2b3c', 'bot.log')).mode & 0o777).to.equal(0o600);
      expect(await own.status(place(handle))).to.deep.equal({ state: 'running' });
      expect(await own.stop(place(handle))).to.deep.equal({ state: 'exited' });
      expect(processRef(pid!)).to.equal(null);
      expect(await own.stop(place(handle)), 'again').to.deep.equal({ state: 'exited' });
      expect(await own.status(place(handle))).to.deep.equal({ state: 'exited' });
    });

    it('does not start an agent twice, and says how the one that runs is found', async () => {
      const own = launcher();
      const { handle } = await own.start(wish(['sleep', '60']));
      const { code, details } = await failure(own.start(wish(['sleep', '60'])));
      expect([code, details?.handle]).to.deep.equal(['already_running', handle]);
      await own.stop(place(handle));
      const again = await own.start(wish(['sleep', '60']));
      await own.stop(place(again.handle));
    });

    it('needs no terminal, a folder and a program', async () => {
      const own = launcher();
      expect(await codeOf(own.start(wish(['sleep', '1'], { mode: 'interactive' })))).to.equal('mode_unsupported');
      expect(await codeOf(own.start(wish(['sleep', '1'], { dir: join(dir, 'none') })))).to.equal('start_failed');
      expect(await codeOf(own.start(wish(['no-such-program'])))).to.equal('start_failed');
      program('broken', '#!/nowhere/interpreter');
      expect(await codeOf(own.start(wish(['broken'])))).to.equal('start_failed');
      expect(await codeOf(own.status(place('a guess')))).to.equal('invalid_request');
    });

    it('ends also what does not want to, within ten seconds', async () => {
      program('deaf', 'trap "" TERM; while :; do sleep 1; done');
      const own = launcher();
      const { handle, pid } = await own.start(wish(['deaf']));
      await own.stop(place(handle));
      expect(processRef(pid!)).to.equal(null);
    });
  });

  // As the programs of agents, tmux is tested where it is.
  if (findProgram('tmux', process.env))
    describe('tmux', () => {
      const tmux = (...words: string[]) => execFileSync('tmux', words, { env, encoding: 'utf8', stdio: 'pipe' });
      const SESSION = '=demo-1a2b3c-bot:';
      afterEach(() => {
        try {
          tmux('kill-server');
        } catch {
          // None was started.
        }
      });

      it('runs a program in a session of its own, without a shell, whatever its words are', async () => {
        const odd = join(dir, 'a #{session_name} %d');
        mkdirSync(odd);
        const path = program(
          'mine',
          'printf "%s\\n" "$0" "$@" "$GIVEN" "$PWD" "$SERVICE_TOKEN$CLAUDECODE." >"$HOME/got"; exec sleep 60',
        );
        const words = ['$(touch hacked)', 'ends;', 'ends\\;', ';', 'a  b', '#{pane_id}', 'line\nbreak', ''];
        const own = tmuxLauncher(env);
        const { handle, attach, pid } = await own.start(wish(['mine', ...words], { dir: odd, mode: 'interactive' }));
        await until('its words', () => existsSync(join(dir, 'got')) && read('got').endsWith('.\n'));
        expect(read('got')).to.equal(`${[path, ...words, 'a "b" $c', odd, '.'].join('\n')}\n`);
        expect(existsSync(join(odd, 'hacked'))).to.equal(false);
        expect(attach).to.equal(`tmux attach -t '=demo-1a2b3c-bot'`);
        expect(await own.status(place(handle))).to.deep.equal({ state: 'running' });
        expect(await own.stop(place(handle))).to.deep.equal({ state: 'exited' });
        expect(processRef(pid!)).to.equal(null);
        expect(await own.stop(place(handle)), 'again').to.deep.equal({ state: 'exited' });
      });

      it('runs a program of one word without a shell too', async () => {
        program('odd name; touch hacked', 'echo >"$HOME/ran"; exec sleep 60');
        const own = tmuxLauncher(env);
        const { handle } = await own.start(wish(['odd name; touch hacked']));
        await until('its run', () => existsSync(join(dir, 'ran')));
        expect(existsSync(join(dir, 'hacked'))).to.equal(false);
        await own.stop(place(handle));
      });

      it('does not start an agent twice, and says how the one that runs is found', async () => {
        const own = tmuxLauncher(env);
        const { handle } = await own.start(wish(['sleep', '60']));
        const { code, details } = await failure(own.start(wish(['sleep', '60'])));
        expect([code, details?.handle]).to.deep.equal(['already_running', handle]);
        await own.stop(place(handle));
      });

      it('keeps what a program said last, until it is started again', async () => {
        program('mine', 'echo out of luck; read go; exit 3');
        const own = tmuxLauncher(env);
        const { handle } = await own.start(wish(['mine']));
        await until('its word', () => tmux('capture-pane', '-p', '-t', SESSION).includes('luck'));
        tmux('send-keys', '-t', SESSION, 'Enter');
        await until('its end', async () => (await own.status(place(handle))).state === 'exited');
        expect(tmux('capture-pane', '-p', '-S', '-', '-t', SESSION)).to.include('out of luck');
        const again = await own.start(wish(['sleep', '60']));
        expect(await own.status(place(again.handle))).to.deep.equal({ state: 'running' });
        expect(await own.status(place(handle)), 'the one before').to.deep.equal({ state: 'exited' });
        await own.stop(place(again.handle));
      });

      it('leaves alone what its person opened beside the agent', async () => {
        const own = tmuxLauncher(env);
        const { handle } = await own.start(wish(['sleep', '60']));
        const [pane, pid] = tmux(
          'split-window',
          '-d',
          '-t',
          SESSION,
          '-P',
          '-F',
          '#{pane_id} #{pane_pid}',
          'sleep',
          '61',
        )
          .trim()
          .split(' ');
        await own.stop(place(handle));
        const again = await own.start(wish(['sleep', '60']));
        await own.stop(place(again.handle));
        expect([alive(Number(pid)), tmux('list-panes', '-a', '-F', '#{pane_id}').includes(pane!)]).to.deep.equal([
          true,
          true,
        ]);
      });

      it('ends also what ignores the end of its terminal', async () => {
        program('deaf', 'trap "" HUP TERM; while :; do sleep 1; done');
        const own = tmuxLauncher(env);
        const { handle, pid } = await own.start(wish(['deaf']));
        await own.stop(place(handle));
        expect(processRef(pid!)).to.equal(null);
      });

      it('needs tmux, a folder and a program', async () => {
        const own = tmuxLauncher(env);
        expect(await codeOf(own.start(wish(['sleep', '1'], { dir: join(dir, 'none') })))).to.equal('start_failed');
        expect(await codeOf(own.start(wish(['no-such-program'])))).to.equal('start_failed');
        expect(await codeOf(own.status(place('a guess')))).to.equal('invalid_request');
        const without = tmuxLauncher({ ...env, PATH: bin });
        program('mine', 'exit');
        expect(await codeOf(without.start(wish(['mine'])))).to.equal('host_unavailable');
        const blocked = join(dir, 'blocked');
        writeFileSync(blocked, '');
        const nowhere = tmuxLauncher({ ...env, TMUX_TMPDIR: blocked });
        expect(await codeOf(nowhere.start(wish(['mine'])))).to.equal('host_unavailable');
      });
    });
});
