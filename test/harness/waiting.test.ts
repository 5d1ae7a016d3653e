/** A session that asks its person for permission, and is shown as waiting for as long as that lasts. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { until } from '../cli/support/home.ts';
import { claudeCode } from './programs/claude-code.ts';
import { codex } from './programs/codex.ts';
import type { Program } from './programs/program.ts';
import { Results } from './results.ts';
import { board, World } from './world.ts';

/** Has a program ask before it runs the command below, and before nothing that the test needs besides. */
const asking: Record<string, (home: string) => void> = {
  [claudeCode.harness]: (home) =>
    change(join(home, '.claude', 'settings.json'), (text) =>
      text.replace('"permissions": {', '"permissions": { "ask": ["Bash(mkdir:*)"],'),
    ),
  [codex.harness]: (home) => {
    change(join(home, '.codex', 'config.toml'), (text) => text.replace('policy = "never"', 'policy = "on-request"'));
    mkdirSync(join(home, '.codex', 'rules'), { recursive: true });
    const rule = 'prefix_rule(pattern=["mkdir"], decision="prompt")\n';
    writeFileSync(join(home, '.codex', 'rules', 'own.rules'), rule);
  },
};

/** What it shows then. */
const question = 'Do you want to proceed|Would you like to run';

function change(path: string, by: (text: string) => string): void {
  const text = readFileSync(path, 'utf8');
  const changed = by(text);
  if (changed === text) throw new Error(`${path} is not as expected`);
  writeFileSync(path, changed);
}

for (const program of [claudeCode, codex]) checkWaiting(program);

function checkWaiting(program: Program): void {
  const results = new Results();
  describe(`${program.name} ${program.version} that asks its person`, function () {
    this.timeout(120_000);
    let world: World;
    before(async () => {
      world = await World.make(program);
      asking[program.harness]!(world.home.dir);
    });
    after(() => world.end());
    after(() => results.write());

    it('at a permission prompt is waiting within two seconds, something that needs its person after 20, gone after the answer', () =>
      results.of(program, 'waiting', async () => {
        const agent = world.agent(program);
        await agent.open();
        await agent.join();
        const shown = async () => (await world.service('agent', 'show', agent.seat, '--board', board)).agent;
        const people = world.people();
        const presence = async () => (await people.member(board, agent.seat)).presence;
        const told = async (): Promise<boolean> => (await people.person.call('listNeeds')).data.needs.length > 0;
        const needs = async (): Promise<{ kind: string; agent: string; question?: string; folder?: string }[]> =>
          (await world.service('inbox')).needs;
        agent.model.runOn('make a folder', 'mkdir asked-for && echo it was made');
        await agent.prompt('make a folder');
        await agent.terminal!.until(new RegExp(question));
        await until('it is shown as waiting', async () => (await presence()) === 'waiting', 2_000);
        const { waiting } = await shown();
        const asked = 'Bash: mkdir asked-for && echo it was made';
        expect(waiting).to.include({ for: 'permission', question: asked });
        expect(await needs()).to.deep.equal([]);
        await until('its person is told', told, 30_000);
        expect(Date.now() - Date.parse(waiting.since)).to.be.within(20_000, 24_000);
        const [need, ...more] = await needs();
        expect(need).to.include({
          kind: 'agent_waiting',
          agent: agent.seat,
          question: asked,
          folder: agent.place.project,
        });
        expect(more).to.deep.equal([]);
        await agent.terminal!.press('\r', new RegExp(`^(?![\\s\\S]*(?:${question}))`));
        await agent.model.until('it was made');
        await until('it waits no more', async () => (await presence()) !== 'waiting', 2_000);
        expect(await needs()).to.deep.equal([]);
      }));
  });
}
