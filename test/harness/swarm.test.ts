/**
 * Swarms of the real programs, each in tmux: a session is started at its seat, woken there, stopped, and its conversation taken
 * up again. As the programs, tmux is tested where it is.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { findProgram } from '../../src/harness/programs.ts';
import { until } from '../cli/support/home.ts';
import { claudeCode } from './programs/claude-code.ts';
import { codex } from './programs/codex.ts';
import { bin } from './programs/installed.ts';
import { Results } from './results.ts';
import { board, World } from './world.ts';

/** The variables by which each talks to its scripted model; a person has their own in the terminal they start a swarm from. */
const variables: Record<string, (model: string) => Record<string, string>> = {
  [claudeCode.harness]: (model) => ({
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_AUTH_TOKEN: 'not-a-key',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    IS_SANDBOX: '1',
  }),
  [codex.harness]: () => ({ SCRIPTED_KEY: 'not-a-key' }),
};

/** What two runs in one conversation use: the scripted model counts one token in and one out for each request. Codex tells no cost. */
const used: Record<string, object> = {
  [claudeCode.harness]: { input_tokens: 2, output_tokens: 2, cost_usd: 0.000048 },
  [codex.harness]: { input_tokens: 2, output_tokens: 2 },
};

if (findProgram('tmux', process.env))
  for (const program of [claudeCode, codex])
    describe(`a swarm of ${program.name} ${program.version}`, function () {
      // Each wait has a limit of its own that names what did not come; a start of a program takes long on a busy machine.
      this.timeout(300_000);
      const results = new Results();
      let world: World;

      before(async () => {
        world = await World.make(program);
        const { home } = world;
        const { place } = world.agent(program);
        Object.assign(home.env, {
          TMUX_TMPDIR: home.dir,
          TERM: 'xterm-256color',
          ...variables[program.harness]!(place.model),
        });
      });
      after(async () => {
        await world.home.run(['swarm', 'down', board]);
        spawnSync('tmux', ['kill-server'], { env: world.home.env });
        await world.end();
        results.write();
      });

      it('is started at its seat, woken there, and goes on with its conversation after it was stopped', async () => {
        const agent = world.agent(program);
        const { model, place, seat } = agent;
        // Once, a person answers what the program asks about new hooks.
        await agent.open();
        await agent.quit();
        // In place of a model: takes the seat, where the prompt says how.
        model.script(({ news }) => {
          const command = /service status --launch lch_[0-9a-f]{24}/.exec(news)?.[0];
          return command ? { run: command } : undefined;
        });
        const text = `board: ${board}\nagents:\n  - {name: ${seat}, harness: ${program.harness}}\n`;
        writeFileSync(join(place.project, 'service.yaml'), text);
        const swarm = (verb: string) =>
          world.home.json(['swarm', verb, ...(verb === 'up' ? ['--yes'] : [])], { cwd: place.project });

        const [started] = (await swarm('up')).agents;
        expect([started.action, started.launcher, started.seated]).to.deep.equal(['started', 'tmux', true]);
        // It has its seat before it takes its first prompt, behind which a message that wakes it would come twice.
        await model.until(`You are ${seat} (role`);
        await agent.settled();
        await world.say('wake up in tmux', '--to', `@${seat}`);
        await model.until('wake up in tmux');
        await agent.settled();
        expect((await swarm('up')).agents[0].action).to.equal('running');

        expect((await swarm('down')).agents[0].stopped).to.equal(true);
        await world.say('while you were away', '--to', `@${seat}`);
        const [again] = (await swarm('up')).agents;
        expect([again.action, again.seated, again.session]).to.deep.equal(['resumed', true, started.session]);
        await model.until('while you were away');
        await agent.settled();
        await world.say('and once more', '--to', `@${seat}`);
        const { conversation } = await model.until('and once more');
        // A program that was stopped before it kept its model's answer shows its model the message as news once more.
        expect(conversation.split('wake up in tmux')).to.have.length(2);
        await agent.settled();
        await swarm('down');
      });

      it('is run in the background once for each bundle, in one conversation', async () => {
        const agent = world.agent(program);
        const { model, place } = agent;
        const { home } = world;
        // All users of the machine can see with what words it is run.
        unlinkSync(join(home.dir, 'bin', program.command));
        home.program(program.command, `printf '%s\\n' "$*" >>"$HOME/words"; exec '${bin(program.command)}' "$@"`);
        const args = program.harness === codex.harness ? ', args: [--skip-git-repo-check]' : '';
        const agents = `  - {name: quiet, harness: ${program.harness}, launcher: headless${args}}\n`;
        const text = `board: ${board}\nagents:\n${agents}`;
        writeFileSync(join(place.project, 'quiet.yaml'), text);
        const up = await world.home.json(['swarm', 'up', '--yes', '-F', 'quiet.yaml'], { cwd: place.project });
        expect([up.agents[0].mode, up.agents[0].seated]).to.deep.equal(['headless', true]);
        const unread = () => world.unread('quiet');
        await world.say('the first thing', '--to', '@quiet');
        await model.until('the first thing');
        await until('it is acknowledged', async () => (await unread()) === 0);
        await world.say('the second thing', '--to', '@quiet');
        const { conversation } = await model.until('the second thing');
        expect(conversation).to.include('the first thing');
        await until('it is acknowledged', async () => (await unread()) === 0);
        const words = readFileSync(join(home.dir, 'words'), 'utf8');
        expect(words)
          .to.include('json')
          .and.not.to.match(/thing|service-message/);
        await results.of(program, 'usage', async () => {
          const { usage } = (await world.service('agent', 'show', 'quiet', '--board', board)).agent;
          expect(usage).to.deep.equal({ turns: 2, ...used[program.harness], since: usage.since });
        });
      });
    });
