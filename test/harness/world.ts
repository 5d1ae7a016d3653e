/** A person with one agent program on one machine: an empty home, their own server and daemon, a board, a scripted model. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Home, until } from '../cli/support/home.ts';
import { ScriptedModel } from './model/scripted.ts';
import { bin } from './programs/installed.ts';
import type { Place, Program } from './programs/program.ts';
import type { Terminal } from './terminal.ts';

export const board = 'demo';
/** The seat of the agent whose program is tested, and of another agent of the same person. */
export const seat = 'tested';
export const peer = 'helper';

export class World {
  readonly home = new Home();
  readonly program: Program;
  readonly model: ScriptedModel;
  readonly place: Place;
  terminal: Terminal | undefined;
  private lines = 0;

  private constructor(program: Program, model: ScriptedModel) {
    this.program = program;
    this.model = model;
    symlinkSync(bin(program.command), join(this.home.dir, 'bin', program.command));
    // A program may run commands in a login shell, which begins with the path of the system.
    writeFileSync(join(this.home.dir, '.profile'), `export PATH='${this.home.env['PATH']}'\n`);
    const project = join(this.home.dir, 'project');
    mkdirSync(project);
    this.place = { home: this.home.dir, project, model: model.url, env: this.home.env };
  }

  /** As on a machine where somebody has run `service init` and made a board, and nothing else. */
  static async make(program: Program): Promise<World> {
    const world = new World(program, await ScriptedModel.start());
    program.prepare(world.place);
    await world.service('init', '--yes', '--harness', program.harness);
    await world.service('board', 'create', board, '--no-link');
    await world.service('agent', 'create', peer, '--board', board);
    return world;
  }

  /** One command of the person in a terminal of theirs; its JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: what a command printed is checked field by field
  service(...args: string[]): Promise<any> {
    return this.home.json(args, { cwd: this.home.work });
  }

  /** The person says something on the board. */
  async say(text: string, ...flags: string[]): Promise<void> {
    await this.service('board', 'post', '--board', board, ...flags, text);
  }

  /** The person's other agent says something on the board. */
  async peerSays(text: string): Promise<void> {
    await this.service('board', 'post', '--as', peer, '--board', board, text);
  }

  async open(resume?: string): Promise<void> {
    this.terminal = await this.program.open(this.place, resume);
  }

  /** The person types a prompt, and the model is asked. A number makes each prompt one of its own. */
  async prompt(words: string): Promise<void> {
    const line = `${words} (prompt ${++this.lines})`;
    await this.terminal?.enter(line, () => this.model.told(`(prompt ${this.lines})`).length > 0);
  }

  /** The session comes onto the board as a person has it do so: by one pasted line. */
  async join(): Promise<void> {
    const { code } = await this.service('code', 'create', '--board', board);
    this.model.runOn('Join service board', `service join '${code.join_line}' --name ${seat} --json`);
    await this.prompt(code.join_line);
    await this.model.until('"agent"');
    await this.settled();
  }

  /** Does something while the session is in a turn: its model has it run a command that waits for a file. */
  async busy(meanwhile: () => Promise<void>): Promise<void> {
    const word = `busy turn ${++this.lines}`;
    const file = join(this.home.dir, `go-${this.lines}`);
    // The command is a tool call: what comes during it is given at its end, or before the one after it.
    this.model.runOn(word, `while [ ! -e ${file} ]; do sleep 0.1; done; echo command over`);
    this.model.runOn('command over', 'echo one more command');
    await this.terminal?.enter(word, () => this.model.told(word).length > 0);
    await meanwhile();
    writeFileSync(file, '');
    await this.model.until('one more command');
  }

  /** What the agent's inbox holds unread, as the server tells it. */
  async unread(): Promise<number> {
    const { messages } = await this.service('inbox', '--peek', '--as', seat);
    return messages.length;
  }

  /** Everything was received and acknowledged. */
  async settled(): Promise<void> {
    await until('the inbox is empty', async () => (await this.unread()) === 0);
  }

  // biome-ignore lint/suspicious/noExplicitAny: what a command printed is checked field by field
  daemon(): Promise<any> {
    return this.service('daemon', 'status');
  }

  /** The id of the session that is open. */
  async session(): Promise<string> {
    const { sessions } = await this.daemon();
    const open = sessions.filter((one: { open: boolean }) => one.open);
    if (open.length !== 1) throw new Error(`${open.length} sessions are open: ${JSON.stringify(sessions)}`);
    return String(open[0].key).split(':')[1]!;
  }

  closed(): Promise<void> {
    const gone = async (): Promise<boolean> =>
      (await this.daemon()).sessions.every((one: { open: boolean }) => !one.open);
    return until('the session is closed', gone);
  }

  async end(): Promise<void> {
    this.terminal?.kill();
    await this.home.run(['server', 'stop']);
    this.model.stop();
    // What a program left running in the background, which its home names.
    spawnSync('pkill', ['-KILL', '-f', this.home.dir]);
    await this.home.close();
  }
}
