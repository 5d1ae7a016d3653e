/** The launcher tmux, with tmux as it is on this machine. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { findProgram } from '../../src/harness/programs.ts';
import { tmuxLauncher } from '../../src/launch/tmux.ts';
import { alive } from '../../src/local/process.ts';
import { processRef } from '../../src/local/process-ref.ts';
import { until } from './support/home.ts';
import { codeOf, failure, launchPlace, startedAs } from './support/launching.ts';

// As the programs of agents, tmux is tested where it is.
if (findProgram('tmux', process.env))
  describe('the launcher tmux', () => {
    // Before its folder is removed, in which tmux keeps its socket.
    afterEach(() => {
      try {
        tmux('kill-server');
      } catch {
        // None was started.
      }
    });
    const place = launchPlace();
    const { program, read } = place;
    const tmux = (...words: string[]) =>
      execFileSync('tmux', words, { env: place.env, encoding: 'utf8', stdio: 'pipe' });
    const SESSION = '=demo-1a2b3c-bot:';

    it('runs a program in a session of its own, without a shell, whatever its words are', async () => {
      const odd = join(place.dir, 'a #{session_name} %d');
      mkdirSync(odd);
      const path = program(
        'mine',
        'printf "%s\\n" "$0" "$@" "$GIVEN" "$PWD" "$SERVICE_TOKEN$CLAUDECODE." >"$HOME/got"; exec sleep 60',
      );
      const words = ['$(touch hacked)', 'ends;', 'ends\\;', ';', 'a  b', '#{pane_id}', 'line\nbreak', ''];
      const own = tmuxLauncher(place.env);
      const { handle, attach, pid } = await own.start(
        place.wish(['mine', ...words], { dir: odd, mode: 'interactive' }),
      );
      await until('its words', () => existsSync(join(place.dir, 'got')) && read('got').endsWith('.\n'));
      expect(read('got')).to.equal(`${[path, ...words, 'a "b" $c', odd, '.'].join('\n')}\n`);
      expect(existsSync(join(odd, 'hacked'))).to.equal(false);
      expect(attach).to.equal(`tmux attach -t '=demo-1a2b3c-bot'`);
      expect(await own.status(startedAs(handle))).to.deep.equal({ state: 'running' });
      expect(await own.stop(startedAs(handle))).to.deep.equal({ state: 'exited' });
      expect(processRef(pid!)).to.equal(null);
      expect(await own.stop(startedAs(handle)), 'again').to.deep.equal({ state: 'exited' });
    });

    it('runs a program of one word without a shell too', async () => {
      program('odd name; touch hacked', 'echo >"$HOME/ran"; exec sleep 60');
      const own = tmuxLauncher(place.env);
      const { handle } = await own.start(place.wish(['odd name; touch hacked']));
      await until('its run', () => existsSync(join(place.dir, 'ran')));
      expect(existsSync(join(place.dir, 'hacked'))).to.equal(false);
      await own.stop(startedAs(handle));
    });

    it('does not start an agent twice, and says how the one that runs is found', async () => {
      const own = tmuxLauncher(place.env);
      const { handle } = await own.start(place.wish(['sleep', '60']));
      const { code, details } = await failure(own.start(place.wish(['sleep', '60'])));
      expect([code, details?.handle]).to.deep.equal(['already_running', handle]);
      await own.stop(startedAs(handle));
    });

    it('keeps what a program said last, until it is started again', async () => {
      program('mine', 'echo out of luck; read go; exit 3');
      const own = tmuxLauncher(place.env);
      const { handle } = await own.start(place.wish(['mine']));
      await until('its word', () => tmux('capture-pane', '-p', '-t', SESSION).includes('luck'));
      tmux('send-keys', '-t', SESSION, 'Enter');
      await until('its end', async () => (await own.status(startedAs(handle))).state === 'exited');
      expect(tmux('capture-pane', '-p', '-S', '-', '-t', SESSION)).to.include('out of luck');
      const again = await own.start(place.wish(['sleep', '60']));
      expect(await own.status(startedAs(again.handle))).to.deep.equal({ state: 'running' });
      expect(await own.status(startedAs(handle)), 'the one before').to.deep.equal({ state: 'exited' });
      await own.stop(startedAs(again.handle));
    });

    it('leaves alone what its person opened beside the agent', async () => {
      const own = tmuxLauncher(place.env);
      const { handle } = await own.start(place.wish(['sleep', '60']));
      const [pane, pid] = tmux('split-window', '-d', '-t', SESSION, '-P', '-F', '#{pane_id} #{pane_pid}', 'sleep', '61')
        .trim()
        .split(' ');
      await own.stop(startedAs(handle));
      const again = await own.start(place.wish(['sleep', '60']));
      await own.stop(startedAs(again.handle));
      expect([alive(Number(pid)), tmux('list-panes', '-a', '-F', '#{pane_id}').includes(pane!)]).to.deep.equal([
        true,
        true,
      ]);
    });

    it('ends also what ignores the end of its terminal', async () => {
      program('deaf', 'trap "" HUP TERM; while :; do sleep 1; done');
      const own = tmuxLauncher(place.env);
      const { handle, pid } = await own.start(place.wish(['deaf']));
      await own.stop(startedAs(handle));
      expect(processRef(pid!)).to.equal(null);
    });

    it('may have started what it did not answer for in time', async () => {
      program('tmux', 'case "$*" in new-session*) exec sleep 60;; *) exit 1;; esac');
      const own = tmuxLauncher(place.env, 300);
      expect(await codeOf(own.start(place.wish(['sleep', '1'])))).to.equal('launcher_failed');
    });

    it('needs tmux, a folder and a program', async () => {
      const own = tmuxLauncher(place.env);
      expect(await codeOf(own.start(place.wish(['sleep', '1'], { dir: join(place.dir, 'none') })))).to.equal(
        'start_failed',
      );
      expect(await codeOf(own.start(place.wish(['no-such-program'])))).to.equal('start_failed');
      expect(await codeOf(own.status(startedAs('a guess')))).to.equal('invalid_request');
      const without = tmuxLauncher({ ...place.env, PATH: place.bin });
      program('mine', 'exit');
      expect(await codeOf(without.start(place.wish(['mine'])))).to.equal('host_unavailable');
      const blocked = join(place.dir, 'blocked');
      writeFileSync(blocked, '');
      const nowhere = tmuxLauncher({ ...place.env, TMUX_TMPDIR: blocked });
      expect(await codeOf(nowhere.start(place.wish(['mine'])))).to.equal('host_unavailable');
    });
  });
