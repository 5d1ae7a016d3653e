/** An agent of the person: a session of a real program in a terminal, at a seat of the board, on a scripted model of its own. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../cli/support/home.ts';
import { ScriptedModel } from './model/scripted.ts';
import type { Place, Program } from './programs/program.ts';
import type { Terminal } from './terminal.ts';
import { board, type World } from './world.ts';

/** A session as `service daemon status` lists it. */
interface SessionSeen {
  key: string;
  open: boolean;
}

export class Agent {
  readonly program: Program;
  readonly model: ScriptedModel;
  readonly place: Place;
  /** Its seat on the board. */
  readonly seat: string;
  terminal: Terminal | undefined;
  private readonly world: World;
  private lines = 0;

  private constructor(world: World, program: Program, model: ScriptedModel) {
    this.world = world;
    this.program = program;
    this.model = model;
    this.seat = `tested-${program.command}`;
    const project = join(world.home.dir, `project-${program.command}`);
    mkdirSync(project);
    this.place = { home: world.home.dir, project, model: model.url, env: world.home.env };
  }

  /** As after the program's first use: its questions answered, no session yet. */
  static async on(world: World, program: Program): Promise<Agent> {
    const agent = new Agent(world, program, await ScriptedModel.start());
    program.prepare(agent.place);
    return agent;
  }

  /** A new session, or a former one by its id. */
  async open(resume?: string): Promise<void> {
    this.terminal = await this.program.open(this.place, resume);
  }

  /** The person types a prompt, and the model is asked. A number makes each prompt one of its own. */
  async prompt(words: string): Promise<void> {
    const mark = `(prompt ${++this.lines})`;
    await this.terminal?.enter(`${words} ${mark}`, () => this.model.told(mark).length > 0);
  }

  /** The session comes onto the board as a person has it do so: by one pasted line. */
  async join(): Promise<void> {
    const { code } = await this.world.service('code', 'create', '--board', board);
    this.model.runOn('Join service board', `service join '${code.join_line}' --name ${this.seat} --json`);
    await this.prompt(code.join_line);
    await this.model.until('"agent"');
    await this.settled();
  }

  /** Does something while the session is in a turn: its model has it run a command that waits for a file. */
  async busy(meanwhile: () => Promise<void>): Promise<void> {
    const word = `busy turn ${++this.lines}`;
    const file = join(this.place.project, `go-${this.lines}`);
    // The command is a tool call: what comes during it is given at its end, or before the one after it.
    this.model.runOn(word, `while [ ! -e ${file} ]; do sleep 0.1; done; echo command over ${this.lines}`);
    this.model.runOn(`command over ${this.lines}`, `echo one more command ${this.lines}`);
    const last = `one more command ${this.lines}`;
    await this.terminal?.enter(word, () => this.model.told(word).length > 0);
    await meanwhile();
    writeFileSync(file, '');
    await this.model.until(last);
  }

  /** Has its model answer the message that holds the text, by the command that the bundle prints for it. */
  answers(text: string, words: string): void {
    this.model.script(({ news }) => {
      const at = news.indexOf(text);
      const reply = at < 0 ? null : /^service: Reply requested: (service .+) "…"$/m.exec(news.slice(at));
      return reply ? { run: `${reply[1]} '${words}'` } : undefined;
    });
  }

  /** What its inbox holds unread, as the server tells it. */
  async unread(): Promise<number> {
    const { messages } = await this.world.service('inbox', '--peek', '--as', this.seat);
    return messages.length;
  }

  /** Everything was received and acknowledged. */
  async settled(): Promise<void> {
    await until('the inbox is empty', async () => (await this.unread()) === 0);
  }

  /** The id of its program's session that is open. */
  async session(): Promise<string> {
    const open = await this.sessions();
    if (open.length !== 1) throw new Error(`${open.length} sessions are open: ${JSON.stringify(open)}`);
    return open[0]!.key.split(':')[1]!;
  }

  closed(): Promise<void> {
    return until('the session is closed', async () => (await this.sessions()).length === 0);
  }

  /** Leaves as a person does. */
  async quit(): Promise<void> {
    await this.program.quit(this.terminal!);
  }

  /** Ends the terminal and all in it as a crash does. */
  async kill(): Promise<void> {
    this.terminal!.kill();
    await this.terminal!.ended;
  }

  end(): void {
    this.terminal?.kill();
    this.model.stop();
  }

  /** The sessions of its program that are open. */
  private async sessions(): Promise<SessionSeen[]> {
    const { sessions } = (await this.world.daemon()) as { sessions: SessionSeen[] };
    return sessions.filter(({ key, open }) => open && key.startsWith(`${this.program.harness}:`));
  }
}
