/** A program without a model that behaves as a harness: it is told steps, and writes down what reached its session. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtinProfiles } from '../../src/harness/builtin.ts';
import type { StandIn } from '../../src/harness/load-test-kit.ts';
import type { Profile } from '../../src/harness/profile.ts';
import { shellWord as quoted } from '../../src/harness/setup/entries.ts';
import { readText } from '../../src/harness/setup/files.ts';
import type { Begin, Carrier, Host, Mischief } from './carrier.ts';
import { ExtensionCarrier } from './extension-carrier.ts';
import { failQueue, sayVersion } from './fake-programs.ts';
import { HookCarrier } from './hook-carrier.ts';
import { RunnerCarrier } from './runner-carrier.ts';
import type { Step, StepResult, TraceLine } from './steps.ts';

interface FakeOptions extends StandIn {
  trace(line: TraceLine): void;
}

export class FakeHarness implements Host {
  readonly profile: Profile;
  readonly settings: string;
  readonly state: string;
  readonly folder: string;
  readonly program: string[];
  readonly cwd: string;
  readonly mischief: Mischief = { dropOutput: false, ignoreWake: false, hangMs: 0, killHook: null };
  env: NodeJS.ProcessEnv;
  session = '';
  subagent: string | null = null;
  private readonly options: FakeOptions;
  private readonly carrier: Carrier;
  private contexts: string[] = [];
  private turns = 0;
  private busy = false;
  /** The turn that a wake began, while it lasts. */
  private woken: Promise<void> | null = null;
  private autoReply = false;
  private sandbox: Record<string, string> = {};
  private readonly waiting: { text: string; over: () => void }[] = [];
  private envFile = '';
  private mistake: string | null = null;
  /** Wakes those who wait for a text or a turn. */
  private happened: () => void = () => {};

  constructor(options: FakeOptions) {
    this.options = options;
    const { profile, settings, state, folder, program, cwd } = options;
    this.profile = profile;
    this.settings = settings;
    this.state = state;
    this.folder = folder;
    this.program = program;
    this.cwd = cwd;
    this.env = { ...options.env };
    for (const name of profile.session_env) this.env[name] = '1';
    const { kind } = profile.identity;
    if (kind === 'runner') this.carrier = new RunnerCarrier(this);
    else this.carrier = kind === 'extension' ? new ExtensionCarrier(this) : new HookCarrier(this);
    for (const name of ['queue', 'threads']) mkdirSync(join(folder, name), { recursive: true });
    if (profile.delivery.capabilities.includes('queue')) setInterval(() => this.readQueue(), 40).unref();
  }

  trace(line: Omit<TraceLine, 't'>): void {
    this.options.trace({ t: Date.now(), ...line });
  }

  wrong(what: string): void {
    this.mistake ??= what;
  }

  context(text: string): void {
    if (this.subagent !== null) this.wrong(`text reached a part of the session: ${text.slice(0, 200)}`);
    this.contexts.push(text);
    this.trace({ ev: 'context', text });
    this.happened();
  }

  /** An idle session begins a turn with the text; a busy one takes it when its turn ends. */
  wake(text: string): Promise<void> {
    if (!this.busy) return this.wakeTurn(text);
    return new Promise((over) => this.waiting.push({ text, over }));
  }

  /** Performs one step. @throws Error where it could not be, or where something happened that no hook may do */
  async perform(step: Step): Promise<StepResult> {
    const result = await this.done(step);
    const { mistake } = this;
    this.mistake = null;
    if (mistake !== null) throw new Error(mistake);
    return result;
  }

  private async done(step: Step): Promise<StepResult> {
    switch (step.do) {
      case 'start':
        await this.begin('start', step.source ?? 'startup', step.session, step.agent);
        return {};
      case 'resume':
      case 'clear':
      case 'compact':
      case 'fork':
        await this.begin(step.do, step.do, step.session);
        return {};
      case 'quit':
        await this.carrier.end();
        this.trace({ ev: 'exit', exit: 0 });
        return {};
      case 'kill':
        return this.die();
      case 'prompt':
        // Who types waits for what the session began by itself.
        while (this.woken) await this.woken;
        this.busy = true;
        this.begun(step.text);
        await this.typed(step.text);
        return {};
      case 'tool':
        await this.carrier.tool(step);
        return {};
      case 'end_turn':
        await this.endTurn(false);
        return {};
      case 'command':
        return this.agentRuns(step.argv.map(quoted).join(' '), step.env);
      case 'subagent':
        return this.inside(step.id, step.steps);
      case 'auto_reply':
        this.autoReply = step.on;
        return {};
      case 'drop_output':
        this.mischief.dropOutput = true;
        return {};
      case 'ignore_wake':
        this.mischief.ignoreWake = true;
        return {};
      case 'hang_hook':
        this.mischief.hangMs = step.ms;
        return {};
      case 'kill_hook':
        this.mischief.killHook = step.after;
        return {};
      case 'queue_fail':
        failQueue(this.folder, step.n);
        return {};
      case 'sandbox':
        this.sandbox = this.boxed(step.network);
        return {};
      case 'version':
        sayVersion(this.folder, step.v);
        return {};
      case 'expect':
        return { met: await this.comes(step) };
    }
  }

  /** Leaves without a word. */
  die(): never {
    this.carrier.drop();
    process.exit(137);
  }

  /** Takes along what runs in the background. */
  leave(): void {
    this.carrier.drop();
  }

  private async begin(how: Begin, source: string, session?: string, agent?: string): Promise<void> {
    // What another session takes the place of has ended; a branch leaves it as it is.
    if (how === 'clear' && this.profile.identity.kind !== 'extension') await this.carrier.end();
    if (session) this.session = session;
    this.busy = false;
    const { identity } = this.profile;
    if (identity.env) this.env[identity.env] = this.session;
    if (identity.root_env) this.env[identity.root_env] = this.session;
    for (const { env, root_env } of builtinProfiles.map((other) => other.identity))
      if (identity.kind === 'extension' && env && identity.yields_to?.includes(env))
        for (const name of [env, root_env]) if (name) delete this.env[name];
    if (identity.kind === 'extension') this.env['SERVICE_SESSION'] = `${this.profile.harness}:${this.session}`;
    if (identity.env_file) {
      this.envFile = join(this.folder, `env-${this.session}`);
      writeFileSync(this.envFile, '');
      this.env[identity.env_file] = this.envFile;
    }
    if (this.session) writeFileSync(join(this.folder, 'threads', this.session), '');
    await this.carrier.start(how, source, agent);
  }

  private begun(text: string, wake = false): void {
    this.turns++;
    this.trace({ ev: 'turn', text: wake ? `wake: ${text}` : text });
    this.happened();
  }

  private wakeTurn(text: string): Promise<void> {
    const turn = this.turn(text).finally(() => {
      if (this.woken === turn) this.woken = null;
    });
    this.woken = turn;
    return turn;
  }

  /** A turn that a wake began: nothing is done in it but what was asked for, and it ends. */
  private async turn(text: string): Promise<void> {
    const from = this.contexts.length;
    this.busy = true;
    this.begun(text, true);
    this.context(text);
    await this.carrier.prompt(text, true);
    await this.answer(from);
    await this.endTurn(false);
  }

  private async endTurn(continued: boolean): Promise<void> {
    const more = await this.carrier.endTurn(continued);
    if (more !== null) {
      const from = this.contexts.length;
      this.context(more);
      await this.answer(from);
      return this.endTurn(true);
    }
    this.busy = false;
    const next = this.waiting.shift();
    if (!next) return;
    // The turn that follows is its own; what ended this one does not wait for it.
    void this.wakeTurn(next.text).then(next.over);
  }

  /** A turn that somebody began; what came along with the prompt is answered too. */
  private async typed(text: string): Promise<void> {
    const from = this.contexts.length;
    await this.carrier.prompt(text, false);
    await this.answer(from);
  }

  /** Answers what reached the session since. */
  private async answer(from: number): Promise<void> {
    if (!this.autoReply) return;
    for (const text of this.contexts.slice(from)) await this.reply(text);
  }

  /** In place of a model: runs the reply that a message asks for, with the line that it asks for. */
  private async reply(text: string): Promise<void> {
    for (const message of text.split(/^(?=<service-message )/m)) {
      const [, command] =
        /^service: Reply requested: (service say --reply \d+(?: --board [a-z0-9-]+)?(?: --server \S+)?) /m.exec(
          message,
        ) ?? [];
      const [, line = 'Yes.'] = /exactly this line: (.*)$/m.exec(message) ?? [];
      if (command) await this.agentRuns(`${command} ${quoted(line.trim())}`);
    }
  }

  private async inside(id: string, steps: Step[]): Promise<StepResult> {
    this.subagent = id;
    try {
      let result: StepResult = {};
      for (const step of steps) {
        if (step.do !== 'command') {
          await this.done(step);
          continue;
        }
        const input = { command: step.argv.map(quoted).join(' ') };
        const changed = await this.carrier.tool({ do: 'tool', name: 'Bash', input });
        result = await this.agentRuns(String(changed['command']), { ...this.threadOf(id), ...step.env });
      }
      return result;
    } finally {
      this.subagent = null;
    }
  }

  /** A command as the agent runs it: in a shell that has what the session's hooks told it. */
  private agentRuns(line: string, more: Record<string, string> = {}): Promise<StepResult> {
    const script = this.envFile && existsSync(this.envFile) ? `. ${quoted(this.envFile)}; ${line}` : line;
    const hidden = this.profile.identity.env_file;
    const env = { ...this.env, ...this.sandbox, ...(hidden ? { [hidden]: '' } : {}), ...more };
    return new Promise((resolve) => {
      const child = spawn('/bin/sh', ['-c', script], { env, cwd: this.cwd, stdio: ['ignore', 'pipe', 'pipe'] });
      const printed = { stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr'] as const)
        child[name].on('data', (part: Buffer) => {
          printed[name] += part.toString('utf8');
        });
      child.on('close', (code) => resolve({ code, ...printed }));
    });
  }

  /** A part of a session has an id of its own where its program tells it so. */
  private threadOf(id: string): Record<string, string> {
    const { env } = this.profile.identity;
    return env ? { [env]: id } : {};
  }

  /** The marks of a sandbox; without a network nothing answers where the server is looked for. */
  private boxed(network: boolean): Record<string, string> {
    const { sandbox_env = [], sandbox_network_env = [] } = this.profile;
    const names = [...sandbox_env, ...(network ? [] : sandbox_network_env)];
    return {
      ...Object.fromEntries(names.map((name) => [name, '1'])),
      ...(network ? {} : { SERVICE_LOCAL_ADDR: '127.0.0.1:9' }),
    };
  }

  private async comes({ context_contains, no_context, turns, within_ms = 0 }: Extract<Step, { do: 'expect' }>) {
    const end = performance.now() + within_ms;
    const has = (part: string) => this.contexts.some((text) => text.includes(part));
    const holds = () =>
      (context_contains === undefined || has(context_contains)) && (turns === undefined || this.turns >= turns);
    for (;;) {
      if (no_context !== undefined && has(no_context)) return false;
      const over = performance.now() >= end;
      // What must not come is waited for to the end.
      if (holds() && (no_context === undefined || over)) return true;
      if (over) return false;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, end - performance.now());
        this.happened = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** What the fake program's queue command left for this session. */
  private readQueue(): void {
    const folder = join(this.folder, 'queue');
    for (const name of readdirSync(folder).sort()) {
      const path = join(folder, name);
      // The recipient may have taken it meanwhile.
      const text = readText(path);
      if (text === null) continue;
      const { thread, message } = JSON.parse(text) as { thread: string; message: string };
      if (thread !== this.session) continue;
      rmSync(path);
      this.trace({ ev: 'queue', text: message });
      void this.wake(message);
    }
  }
}
