/** A program without a model that behaves as a harness: it is told steps, and writes down what reached its session. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Profile } from '../profile.ts';
import { shellWord as quoted } from '../setup/entries.ts';
import { type Carrier, ExtensionCarrier, HookCarrier, type Host } from './carrier.ts';

export type Step =
  | { do: 'start' | 'resume' | 'clear' | 'compact'; session?: string }
  | { do: 'quit' | 'end_turn' }
  | { do: 'prompt'; text: string }
  | { do: 'tool'; name: string; input?: Record<string, unknown> }
  | { do: 'command'; argv: string[]; env?: Record<string, string> }
  | { do: 'subagent'; id: string; argv: string[] }
  | { do: 'auto_reply'; on: boolean }
  | { do: 'drop_output' | 'ignore_wake' }
  | { do: 'expect'; contains: string; within_ms?: number };

export interface StepResult {
  /** Of a command. */
  code?: number | null;
  stdout?: string;
  stderr?: string;
  /** Of `expect`. */
  met?: boolean;
}

export interface FakeOptions {
  profile: Profile;
  /** The settings file that was written for this harness. */
  settings: string;
  /** State folder of our program. */
  state: string;
  /** Where the fake programs leave what is queued. */
  folder: string;
  env: NodeJS.ProcessEnv;
  cwd: string;
  trace(line: Record<string, unknown>): void;
}

export class FakeHarness implements Host {
  readonly profile: Profile;
  readonly settings: string;
  readonly cwd: string;
  readonly faults: Host['faults'] = { dropOutput: false, ignoreWake: false, killHook: null };
  env: NodeJS.ProcessEnv;
  session = '';
  private readonly options: FakeOptions;
  private readonly carrier: Carrier;
  private contexts: string[] = [];
  private busy = false;
  private autoReply = false;
  private readonly waiting: string[] = [];
  private envFile = '';

  constructor(options: FakeOptions) {
    this.options = options;
    this.profile = options.profile;
    this.settings = options.settings;
    this.cwd = options.cwd;
    this.env = { ...options.env };
    for (const name of this.profile.session_env) this.env[name] = '1';
    const { kind } = this.profile.identity;
    this.carrier =
      kind === 'extension' || kind === 'runner' ? new ExtensionCarrier(this, options.state) : new HookCarrier(this);
    for (const name of ['queue', 'threads']) mkdirSync(join(options.folder, name), { recursive: true });
    setInterval(() => this.readQueue(), 25).unref();
  }

  trace(line: Record<string, unknown>): void {
    this.options.trace({ t: Date.now(), ...line });
  }

  context(text: string): void {
    this.contexts.push(text);
    this.trace({ ev: 'context', text });
  }

  /** An idle session begins a turn with the text; a busy one takes it when its turn ends. */
  wake(text: string): void {
    if (this.busy) this.waiting.push(text);
    else void this.turn(text);
  }

  async perform(step: Step): Promise<StepResult> {
    switch (step.do) {
      case 'start':
      case 'resume':
      case 'clear':
      case 'compact':
        await this.begin(step.do, step.session);
        return {};
      case 'quit':
        await this.carrier.end();
        this.trace({ ev: 'exit' });
        return {};
      case 'prompt':
        this.busy = true;
        this.trace({ ev: 'turn', text: step.text });
        await this.carrier.prompt(step.text, false);
        return {};
      case 'tool':
        await this.carrier.tool(step.name, step.input ?? {});
        return {};
      case 'end_turn':
        await this.endTurn(false);
        return {};
      case 'command':
        return this.command(step.argv.map(quoted).join(' '), step.env);
      case 'subagent': {
        const input = { command: step.argv.map(quoted).join(' ') };
        const changed = await this.carrier.tool('Bash', input, step.id);
        return this.command(String(changed['command']), this.threadOf(step.id));
      }
      case 'auto_reply':
        this.autoReply = step.on;
        return {};
      case 'drop_output':
        this.faults.dropOutput = true;
        return {};
      case 'ignore_wake':
        this.faults.ignoreWake = true;
        return {};
      case 'expect':
        return { met: await this.sees(step.contains, step.within_ms ?? 5_000) };
    }
  }

  /** Leaves without a word. */
  die(): never {
    this.carrier.drop();
    process.exit(137);
  }

  private async begin(source: string, session?: string): Promise<void> {
    if (session) this.session = session;
    this.busy = false;
    const { identity } = this.profile;
    if (identity.env) this.env[identity.env] = this.session;
    if (identity.root_env) this.env[identity.root_env] = this.session;
    if (identity.kind === 'extension' || identity.kind === 'runner')
      this.env['SERVICE_SESSION'] = `${this.profile.harness}:${this.session}`;
    if (identity.env_file) {
      this.envFile = join(this.options.folder, `env-${this.session}`);
      writeFileSync(this.envFile, '');
      this.env[identity.env_file] = this.envFile;
    }
    writeFileSync(join(this.options.folder, 'threads', this.session), '');
    await this.carrier.start(source === 'start' ? 'startup' : source);
  }

  /** A turn that a wake began: nothing is done in it but what was asked for, and it ends. */
  private async turn(text: string): Promise<void> {
    this.busy = true;
    this.trace({ ev: 'turn', text, wake: true });
    this.context(text);
    await this.carrier.prompt(text, true);
    if (this.autoReply) await this.reply(text);
    await this.endTurn(false);
  }

  private async endTurn(continued: boolean): Promise<void> {
    const more = await this.carrier.endTurn(continued);
    if (more !== null) {
      this.context(more);
      if (this.autoReply) await this.reply(more);
      return this.endTurn(true);
    }
    this.busy = false;
    const next = this.waiting.shift();
    if (next !== undefined) await this.turn(next);
  }

  /** In place of a model: runs the reply that a message asks for. */
  private async reply(text: string): Promise<void> {
    for (const [, command] of text.matchAll(
      /^service: Reply requested: (service say --reply \d+(?: --board [a-z0-9-]+)?) /gm,
    ))
      await this.command(`${command} ${quoted(this.answerFor(text))}`);
  }

  private answerFor(text: string): string {
    return /reply with(?: exactly)?:? "?([^"\n]+)"?/i.exec(text)?.[1] ?? 'Yes.';
  }

  /** A command as the agent runs it: in a shell that has what the session's hooks told it. */
  private command(line: string, more: Record<string, string> = {}): Promise<StepResult> {
    const script = this.envFile && existsSync(this.envFile) ? `. ${quoted(this.envFile)}; ${line}` : line;
    const hidden = this.profile.identity.env_file;
    const env = { ...this.env, ...more, ...(hidden ? { [hidden]: '' } : {}) };
    return new Promise((resolve) => {
      const child = spawn('/bin/sh', ['-c', script], { env, cwd: this.cwd, stdio: ['ignore', 'pipe', 'pipe'] });
      const printed = { stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr'] as const)
        child[name].on('data', (part: Buffer) => {
          printed[name] += part.toString('utf8');
        });
      child.on('close', (code) => {
        this.trace({ ev: 'command', text: line, exit: code, output: printed.stdout + printed.stderr });
        resolve({ code, ...printed });
      });
    });
  }

  /** A part of a session has an id of its own where its program tells it so. */
  private threadOf(id: string): Record<string, string> {
    const { env } = this.profile.identity;
    return env ? { [env]: id } : {};
  }

  private async sees(contains: string, ms: number): Promise<boolean> {
    const end = performance.now() + ms;
    while (!this.contexts.some((text) => text.includes(contains))) {
      if (performance.now() > end) return false;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return true;
  }

  /** What the fake program's queue command left for this session. */
  private readQueue(): void {
    const folder = join(this.options.folder, 'queue');
    for (const name of readdirSync(folder).sort()) {
      const path = join(folder, name);
      const { thread, message } = JSON.parse(readFileSync(path, 'utf8')) as { thread: string; message: string };
      if (thread !== this.session) continue;
      rmSync(path);
      this.trace({ ev: 'queue', text: message });
      this.wake(message);
    }
  }
}
