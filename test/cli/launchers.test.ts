/** What starts the programs of agents: the protocol with programs of others, and the background. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { externalLauncher } from '../../src/launch/external.ts';
import { headlessLauncher } from '../../src/launch/headless.ts';
import { type Launcher, readAnswer } from '../../src/launch/protocol.ts';
import { alive } from '../../src/local/process.ts';
import { processRef } from '../../src/local/process-ref.ts';
import { root, until } from './support/home.ts';
import { codeOf, failure, launchPlace, startedAs } from './support/launching.ts';

describe('launchers', () => {
  const place = launchPlace();
  const { program, read } = place;

  describe('of others', () => {
    const launcher = (script: string, ms?: number): Launcher => {
      program('service-launcher-mine', script);
      return externalLauncher('mine', place.env, ms);
    };

    it('get one JSON request, without a token or a mark of another session, and answer one', async () => {
      const mine = launcher(
        `cat >"$HOME/asked"; env >"$HOME/env"; echo '{"v":1,"handle":"h 1","attach":"look","pid":12,"more":true}'`,
      );
      const answer = await mine.start(place.wish(['a', 'b c']));
      expect(answer).to.deep.equal({ handle: 'h 1', attach: 'look', pid: 12 });
      expect(read('asked').trimEnd().split('\n')).to.have.length(1);
      expect(JSON.parse(read('asked'))).to.deep.equal({ v: 1, op: 'start', ...place.wish(['a', 'b c']) });
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
      expect(await mine.status(startedAs('h'))).to.deep.equal({ state: 'running', blocked: 'asks for leave' });
      expect(await mine.stop(startedAs('h'))).to.deep.equal({ state: 'exited' });
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
      expect(() => externalLauncher('absent', place.env)).to.throw(/no program service-launcher-absent on PATH/);
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
      expect(await mine.start(place.wish(['a']))).to.deep.equal({ handle: 'é' });
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
    const own = externalLauncher('systemd', place.env);
    expect(await own.info({})).to.deep.equal({ name: 'systemd', modes: ['headless'] });
    const { handle } = await own.start(place.wish(['sleep', '60']));
    expect(read('options')).to.include(`--working-directory=${place.dir}\n`).and.include('--setenv=GIVEN=a "b" $c\n');
    expect(await own.status(startedAs(handle))).to.deep.equal({ state: 'running' });
    const { code, details } = await failure(own.start(place.wish(['sleep', '60'])));
    expect([code, details?.handle]).to.deep.equal(['already_running', handle]);
    expect(await own.stop(startedAs(handle))).to.deep.equal({ state: 'exited' });
    await until('its end', async () => (await own.status(startedAs(handle))).state === 'exited');
    expect(await own.stop(startedAs(handle)), 'again').to.deep.equal({ state: 'exited' });
    program('systemd-run', 'exit 1');
    expect(await codeOf(own.start(place.wish(['sleep', '60'])))).to.equal('start_failed');
  });

  describe('headless', () => {
    const launcher = () => headlessLauncher(join(place.dir, 'swarms'), place.env);
    const log = () => readFileSync(join(place.dir, 'swarms', 'demo-1a2b3c', 'bot.log'), 'utf8');

    it('runs a program as it is given in the background, and writes a log that is nobody else’s', async () => {
      const path = program('mine', 'printf "%s|" "$0" "$@" "$GIVEN" "$PWD" "$SERVICE_TOKEN$CLAUDECODE"; exec sleep 60');
      const own = launcher();
      const { handle, attach, pid } = await own.start(place.wish(['mine', '$(touch x)', '; rm']));
      await until('its words', () => log().endsWith('||'));
      expect(log()).to.equal(`${path}|$(touch x)|; rm|a "b" $c|${place.dir}||`);
      expect(attach).to.equal(`tail -f '${join(place.dir, 'swarms', 'demo-1a2b3c', 'bot.log')}'`);
      expect(statSync(join(place.dir, 'swarms', 'demo-1a2b3c', 'bot.log')).mode & 0o777).to.equal(0o600);
      expect(await own.status(startedAs(handle))).to.deep.equal({ state: 'running' });
      expect(await own.stop(startedAs(handle))).to.deep.equal({ state: 'exited' });
      expect(processRef(pid!)).to.equal(null);
      expect(await own.stop(startedAs(handle)), 'again').to.deep.equal({ state: 'exited' });
      expect(await own.status(startedAs(handle))).to.deep.equal({ state: 'exited' });
    });

    it('does not start an agent twice, and says how the one that runs is found', async () => {
      const own = launcher();
      const { handle } = await own.start(place.wish(['sleep', '60']));
      const { code, details } = await failure(own.start(place.wish(['sleep', '60'])));
      expect([code, details?.handle]).to.deep.equal(['already_running', handle]);
      await own.stop(startedAs(handle));
      const again = await own.start(place.wish(['sleep', '60']));
      await own.stop(startedAs(again.handle));
    });

    it('needs no terminal, a folder and a program', async () => {
      const own = launcher();
      expect(await codeOf(own.start(place.wish(['sleep', '1'], { mode: 'interactive' })))).to.equal('mode_unsupported');
      expect(await codeOf(own.start(place.wish(['sleep', '1'], { dir: join(place.dir, 'none') })))).to.equal(
        'start_failed',
      );
      expect(await codeOf(own.start(place.wish(['no-such-program'])))).to.equal('start_failed');
      program('broken', '#!/nowhere/interpreter');
      expect(await codeOf(own.start(place.wish(['broken'])))).to.equal('start_failed');
      expect(await codeOf(own.status(startedAs('a guess')))).to.equal('invalid_request');
    });

    it('ends also what does not want to, within ten seconds', async () => {
      program('deaf', 'trap "" TERM; while :; do sleep 1; done');
      const own = launcher();
      const { handle, pid } = await own.start(place.wish(['deaf']));
      await own.stop(startedAs(handle));
      expect(processRef(pid!)).to.equal(null);
    });
  });
});
