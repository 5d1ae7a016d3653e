/** A fake harness: behaves like an agent program, but performs given steps instead of using a model. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtinProfiles } from '../../src/harness/builtin.ts';
import type { StandIn } from '../../src/harness/load-test-kit.ts';
import { runProgram } from '../../src/harness/programs.ts';
import { shellWord as quoted } from '../../src/harness/setup/entries.ts';
import { readText } from '../../src/harness/setup/files.ts';
import type { Begin, Carrier, HarnessFaults, Host } from './carrier.ts';
import { ExtensionCarrier } from './extension-carrier.ts';
import { failQueue, setVersion } from './fake-programs.ts';
import { HookCarrier } from './hook-carrier.ts';
import { RunnerCarrier } from './runner-carrier.ts';
import type { Step, StepResult, TraceLine } from './steps.ts';

const COMMAND_TIMEOUT_MS = 60_000;

interface FakeOptions extends StandIn {
  trace(line: TraceLine): void;
}

export class FakeHarness implements Host {
  readonly options: FakeOptions;
  readonly faults: HarnessFaults = { dropOutput: false, ignoreWake: false, hangMs: 0, killHook: null };
  env: NodeJS.ProcessEnv;
  session = '';
  subagent: string | null = null;
  private readonly carrier: Carrier;
  private contexts: string[] = [];
  private turns = 0;
  private busy = false;
  /** The current turn, if a wake-up started it. */
  private wakeTurn: Promise<void> | null = null;
  private autoReply = false;
  private sandbox: Record<string, string> = {};
  private readonly waiting: { text: string; ended: () => void }[] = [];
  private envFile = '';
  private problem: string | null = null;
  /** Tells an `expect` step that a text or a turn was added. */
  private changed: () => void = () => {};

  constructor(options: FakeOptions) {
    this.options = options;
    const { profile, folder } = options;
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

  violation(problem: string): void {
    this.problem ??= problem;
  }

  context(text: string): void {
    if (this.subagent !== null) this.violation(`a text reached a subagent: ${text.slice(0, 200)}`);
    this.contexts.push(text);
    this.trace({ ev: 'context', text });
    this.changed();
  }

  wake(text: string): Promise<void> {
    if (!this.busy) return this.startWakeTurn(text);
    return new Promise((ended) => this.waiting.push({ text, ended }));
  }

  /** Performs one step. @throws Error if it failed, or a hook did something that it must not do */
  async perform(step: Step): Promise<StepResult> {
    const result = await this.run(step);
    const { problem } = this;
    this.problem = null;
    if (problem !== null) throw new Error(problem);
    return result;
  }

  private async run(step: Step): Promise<StepResult> {
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
        return this.crash();
      case 'prompt':
        // A person types only when no turn is running.
        while (this.wakeTurn) await this.wakeTurn;
        this.busy = true;
        this.turnStarted(step.text);
        await this.withReplies(() => this.carrier.prompt(step.text, false));
        return {};
      case 'tool':
        await this.carrier.tool(step);
        return {};
      case 'end_turn':
        await this.endTurn(false);
        return {};
      case 'command':
        return this.runCommand(step.argv.map(quoted).join(' '), step.env);
      case 'subagent':
        return this.runSubagent(step.id, step.steps);
      case 'auto_reply':
        this.autoReply = step.on;
        return {};
      case 'drop_output':
        this.faults.dropOutput = true;
        return {};
      case 'ignore_wake':
        this.faults.ignoreWake = true;
        return {};
      case 'hang_hook':
        this.faults.hangMs = step.ms;
        return {};
      case 'kill_hook':
        this.faults.killHook = step.after;
        return {};
      case 'queue_fail':
        failQueue(this.options.folder, step.n);
        return {};
      case 'sandbox':
        this.sandbox = this.sandboxVariables(step.network);
        return {};
      case 'version':
        setVersion(this.options.folder, step.v);
        return {};
      case 'expect':
        return { met: await this.isMet(step) };
    }
  }

  /** Exits without notifying anybody. */
  crash(): never {
    this.carrier.drop();
    process.exit(137);
  }

  /** Stops what runs in the background. */
  close(): void {
    this.carrier.drop();
  }

  private async begin(how: Begin, source: string, session?: string, agent?: string): Promise<void> {
    const { profile, folder } = this.options;
    const { identity } = profile;
    // A new session ends the one that it replaces; a branch does not.
    if (how === 'clear' && identity.kind !== 'extension') await this.carrier.end();
    if (session) this.session = session;
    this.busy = false;
    if (identity.env) this.env[identity.env] = this.session;
    if (identity.root_env) this.env[identity.root_env] = this.session;
    for (const { env, root_env } of builtinProfiles.map((other) => other.identity))
      if (identity.kind === 'extension' && env && identity.yields_to?.includes(env))
        for (const name of [env, root_env]) if (name) delete this.env[name];
    if (identity.kind === 'extension') this.env['SERVICE_SESSION'] = `${profile.harness}:${this.session}`;
    if (identity.env_file) {
      this.envFile = join(folder, `env-${this.session}`);
      writeFileSync(this.envFile, '');
      this.env[identity.env_file] = this.envFile;
    }
    if (this.session) writeFileSync(join(folder, 'threads', this.session), '');
    await this.carrier.start(how, source, agent);
  }

  private turnStarted(text: string, wake = false): void {
    this.turns++;
    this.trace({ ev: 'turn', text: wake ? `wake: ${text}` : text });
    this.changed();
  }

  /** Runs a turn that a wake-up starts: it only replies to what it got, and ends. */
  private startWakeTurn(text: string): Promise<void> {
    this.busy = true;
    this.turnStarted(text, true);
    const run = async () => {
      await this.withReplies(() => {
        this.context(text);
        return this.carrier.prompt(text, true);
      });
      await this.endTurn(false);
    };
    const turn = run().finally(() => {
      if (this.wakeTurn === turn) this.wakeTurn = null;
    });
    this.wakeTurn = turn;
    return turn;
  }

  private async endTurn(continued: boolean): Promise<void> {
    const more = await this.carrier.endTurn(continued);
    if (more !== null) {
      await this.withReplies(() => this.context(more));
      return this.endTurn(true);
    }
    this.busy = false;
    const next = this.waiting.shift();
    if (!next) return;
    // The step that ended this turn does not wait for the next turn.
    void this.startWakeTurn(next.text).then(next.ended);
  }

  /** Runs `work`, then replies to the texts that it added to the session's context. */
  private async withReplies(work: () => Promise<void> | void): Promise<void> {
    const from = this.contexts.length;
    await work();
    if (this.autoReply) for (const text of this.contexts.slice(from)) await this.reply(text);
  }

  /** Like a model: runs the reply commands in a bundle, with the text that each message asks for. */
  private async reply(text: string): Promise<void> {
    for (const message of text.split(/^(?=<service-message )/m)) {
      const [, command] =
        /^service: Reply requested: (service say --reply \d+(?: --board [a-z0-9-]+)?(?: --server \S+)?) /m.exec(
          message,
        ) ?? [];
      const [, line = 'Yes.'] = /exactly this line: (.*)$/m.exec(message) ?? [];
      if (command) await this.runCommand(`${command} ${quoted(line.trim())}`);
    }
  }

  private async runSubagent(id: string, steps: Step[]): Promise<StepResult> {
    this.subagent = id;
    try {
      let result: StepResult = {};
      for (const step of steps) {
        if (step.do !== 'command') {
          await this.run(step);
          continue;
        }
        const input = { command: step.argv.map(quoted).join(' ') };
        const changed = await this.carrier.tool({ do: 'tool', name: 'Bash', input });
        result = await this.runCommand(String(changed['command']), { ...this.threadOf(id), ...step.env });
      }
      return result;
    } finally {
      this.subagent = null;
    }
  }

  /** Runs a command of the agent: in a shell with the variables that the session's hooks set. */
  private runCommand(line: string, more: Record<string, string> = {}): Promise<StepResult> {
    const script = this.envFile && existsSync(this.envFile) ? `. ${quoted(this.envFile)}; ${line}` : line;
    const hidden = this.options.profile.identity.env_file;
    const env = { ...this.env, ...this.sandbox, ...(hidden ? { [hidden]: '' } : {}), ...more };
    return runProgram('/bin/sh', ['-c', script], { env, cwd: this.options.cwd, ms: COMMAND_TIMEOUT_MS });
  }

  /** The variable with a subagent's own id, if the program sets one. */
  private threadOf(id: string): Record<string, string> {
    const { env } = this.options.profile.identity;
    return env ? { [env]: id } : {};
  }

  /** The variables of a sandbox; without a network, the server's address is one where nothing listens. */
  private sandboxVariables(network: boolean): Record<string, string> {
    const { sandbox_env = [], sandbox_network_env = [] } = this.options.profile;
    const names = [...sandbox_env, ...(network ? [] : sandbox_network_env)];
    return {
      ...Object.fromEntries(names.map((name) => [name, '1'])),
      ...(network ? {} : { SERVICE_LOCAL_ADDR: '127.0.0.1:9' }),
    };
  }

  private async isMet({ context_contains, no_context, turns, within_ms = 0 }: Extract<Step, { do: 'expect' }>) {
    const end = performance.now() + within_ms;
    const has = (part: string) => this.contexts.some((text) => text.includes(part));
    const holds = () =>
      (context_contains === undefined || has(context_contains)) && (turns === undefined || this.turns >= turns);
    for (;;) {
      if (no_context !== undefined && has(no_context)) return false;
      const over = performance.now() >= end;
      // A text that must not appear could appear until the end.
      if (holds() && (no_context === undefined || over)) return true;
      if (over) return false;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, end - performance.now());
        this.changed = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** Takes the texts that the fake program's queue has for this session. */
  private readQueue(): void {
    const folder = join(this.options.folder, 'queue');
    for (const name of readdirSync(folder).sort()) {
      const path = join(folder, name);
      // Another session may have taken it meanwhile.
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
