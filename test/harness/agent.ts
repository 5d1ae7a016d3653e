/** An agent of the person: a session of a real program in a terminal, at a seat of the board, on a scripted model of its own. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StatusAnswer } from '../../src/daemon/protocol.ts';
import { until } from '../cli/support/home.ts';
import { ScriptedModel } from './model/scripted.ts';
import type { Place, Program } from './programs/program.ts';
import type { Terminal } from './terminal.ts';
import { board, type World } from './world.ts';

type SessionSeen = NonNullable<StatusAnswer['sessions']>[number];

/** Each line that a person types is one of its own, also where several sessions share a model. */
let lines = 0;

export class Agent {
  readonly program: Program;
  readonly model: ScriptedModel;
  readonly place: Place;
  /** Its seat on the board. */
  readonly seat: string;
  terminal: Terminal | undefined;
  private readonly world: World;

  private constructor(world: World, program: Program, model: ScriptedModel, place: Place) {
    this.world = world;
    this.program = program;
    this.model = model;
    this.place = place;
    this.seat = `tested-${program.command}`;
  }

  /** As after the program's first use: its questions answered, no session yet. */
  static async on(world: World, program: Program): Promise<Agent> {
    const model = await ScriptedModel.start();
    const project = join(world.home.dir, `project-${program.command}`);
    mkdirSync(project);
    const place = { home: world.home.dir, project, model: model.url, env: world.home.env };
    program.prepare(place);
    return new Agent(world, program, model, place);
  }

  /** The same person in a second terminal: another session of the same program, which has no seat. */
  async beside(): Promise<Agent> {
    const second = new Agent(this.world, this.program, this.model, this.place);
    await second.open();
    return second;
  }

  /** A new session, or a former one by its id. */
  async open(resume?: string): Promise<void> {
    this.terminal = await this.program.open(this.place, resume);
  }

  /** The person types a prompt, and the model is asked. What was typed, which a number makes one of its own. */
  async prompt(words: string): Promise<string> {
    const line = `${words} (prompt ${++lines} here)`;
    await this.terminal?.enter(line, () => this.model.told(line).length > 0);
    return line;
  }

  /** The session comes onto the board as a person has it do so: by one pasted line. */
  async join(): Promise<void> {
    const { code } = await this.world.service('code', 'create', '--board', board);
    this.model.runOn(
      'Join service board',
      `service join '${code.join_line}' --name ${this.seat} && echo came onto the board`,
    );
    await this.prompt(code.join_line);
    await this.model.until('came onto the board');
    await this.settled();
  }

  /** Does something while the session is in a turn: its model has it run a command that waits for a file. */
  async busy(meanwhile: () => Promise<void>): Promise<void> {
    const word = `busy turn ${++lines}`;
    const file = join(this.place.project, `go-${lines}`);
    // The command is a tool call: what comes during it is given at its end, or before the one after it.
    this.model.runOn(
      word,
      `touch ${file}-waits; while [ ! -e ${file} ]; do sleep 0.1; done; echo command over ${lines}`,
    );
    this.model.runOn(`command over ${lines}`, `echo one more command ${lines}`);
    const last = `one more command ${lines}`;
    await this.terminal?.enter(word, () => this.model.told(word).length > 0);
    // Hooks that run before the command are over once it runs.
    await until('the command runs', () => existsSync(`${file}-waits`));
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
  unread(): Promise<number> {
    return this.world.unread(this.seat);
  }

  /**
   * Everything was received and acknowledged, and its turn is over: a queue confirms a message before the turn that it
   * starts, and what is posted in that turn would come at its end, as no prompt.
   */
  async settled(): Promise<void> {
    await until('the inbox is empty', async () => (await this.unread()) === 0);
    await until('its turn is over', async () => (await this.holders()).every(({ turn }) => turn !== 'busy'));
  }

  /** The open session that holds its seat. */
  async session(): Promise<{ id: string; boot: string }> {
    const [one, ...more] = await this.holders();
    if (!one || more.length > 0) throw new Error(`${more.length + (one ? 1 : 0)} open sessions hold ${this.seat}`);
    return { id: one.key.split(':')[1]!, boot: one.boot };
  }

  /** The id of the open session that holds its seat, once that is another one than this. */
  async sessionAfter(id: string): Promise<string> {
    let key = '';
    await until('the seat is another session’s', async () => {
      key = (await this.holders())[0]?.key ?? '';
      return key !== '' && !key.endsWith(`:${id}`);
    });
    return key.slice(key.indexOf(':') + 1);
  }

  closed(): Promise<void> {
    return until('the session is closed', async () => (await this.holders()).length === 0);
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

  private async holders(): Promise<SessionSeen[]> {
    const { sessions = [] } = await this.world.daemon();
    return sessions.filter(({ open, seats = [] }) => open && seats.some(({ name }) => name === this.seat));
  }
}
