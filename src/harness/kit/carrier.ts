/** How a fake harness meets our program: through the hooks in its settings, or as an extension that holds a connection. */
import { randomBytes } from 'node:crypto';
import { ask, nextFrame, received } from '../../daemon/control/ask.ts';
import { connectDaemon } from '../../daemon/control/client.ts';
import type { Connection, Frame } from '../../daemon/control/connection.ts';
import type { Carry, Header } from '../../daemon/control/frames.ts';
import { textFor } from '../../hook/say.ts';
import type { Profile } from '../profile.ts';
import { answerOf, entriesFor, type HookResult, startEntry } from './entries.ts';

export interface Host {
  readonly profile: Profile;
  /** Variables of the harness's own process. */
  env: NodeJS.ProcessEnv;
  cwd: string;
  session: string;
  settings: string;
  /** Text that is now in the session's context. */
  context(text: string): void;
  /** Text that makes an idle session begin a turn. */
  wake(text: string): void;
  trace(line: Record<string, unknown>): void;
  faults: { dropOutput: boolean; ignoreWake: boolean; killHook: 'answer' | 'output' | null };
}

export interface Carrier {
  start(source: string): Promise<void>;
  /** Text that comes back as this prompt when it was a wake. */
  prompt(text: string, wake: boolean): Promise<void>;
  tool(name: string, input: Record<string, unknown>, subagent?: string): Promise<Record<string, unknown>>;
  /** Text with which the turn goes on, if it does. */
  endTurn(continued: boolean): Promise<string | null>;
  end(): Promise<void>;
  /** Leaves everything as a crash does. */
  drop(): void;
}

type Op = NonNullable<Profile['delivery']['hooks']>[number]['op'];

/** Claude Code's and Codex's way. */
export class HookCarrier implements Carrier {
  private readonly host: Host;
  private readonly running = new Set<{ kill(signal: NodeJS.Signals): boolean }>();
  private turn = 0;

  constructor(host: Host) {
    this.host = host;
  }

  async start(source: string): Promise<void> {
    for (const result of await this.fire('session-start', { source })) this.take(result);
  }

  async prompt(text: string): Promise<void> {
    this.turn++;
    for (const result of await this.fire('prompt', { prompt: text, turn_id: `turn-${this.turn}` })) this.take(result);
  }

  async tool(name: string, input: Record<string, unknown>, subagent?: string): Promise<Record<string, unknown>> {
    const about = {
      tool_name: name,
      tool_input: input,
      turn_id: `turn-${this.turn}`,
      ...(subagent ? { agent_id: subagent } : {}),
    };
    const marks = await this.fire('mark-subagent', about, name);
    const changed = marks.map((result) => answerOf(result).updatedInput).find((one) => one !== null);
    for (const result of await this.fire('tool', about, name)) if (!subagent) this.take(result);
    return changed ?? input;
  }

  async endTurn(continued: boolean): Promise<string | null> {
    void this.waits();
    const results = await this.fire('turn-end', { stop_hook_active: continued, turn_id: `turn-${this.turn}` });
    return results.map((result) => answerOf(result).block).find((text) => text !== null) ?? null;
  }

  async end(): Promise<void> {
    await this.fire('end', { reason: 'exit' });
    this.drop();
  }

  drop(): void {
    for (const child of this.running) child.kill('SIGKILL');
    this.running.clear();
  }

  /** Hooks that wait in the background and wake with exit 2. */
  private async waits(): Promise<void> {
    for (const result of await this.fire('wait', { stop_hook_active: false })) {
      if (result.exit !== 2) continue;
      this.host.trace({ ev: 'wake', text: result.stderr });
      if (this.host.faults.ignoreWake) this.host.faults.ignoreWake = false;
      else this.host.wake(result.stderr);
    }
  }

  private take(result: HookResult): void {
    const { context, bad } = answerOf(result);
    if (bad) this.host.trace({ ev: 'bad_output', text: result.stdout });
    const { faults } = this.host;
    if (context && !faults.dropOutput) this.host.context(context);
    faults.dropOutput = false;
  }

  private async fire(op: Op, fields: Record<string, unknown>, tool?: string): Promise<HookResult[]> {
    const { profile, settings, env, cwd, session } = this.host;
    const hooks = (profile.delivery.hooks ?? []).filter((hook) => hook.op === op);
    const events = hooks.flatMap(({ event, fallback }) => [event, ...(fallback ?? []).map((one) => one.event)]);
    const started = events.flatMap((event) =>
      entriesFor(settings, event, tool)
        .filter(({ command }) => hooks.some(({ run }) => command.endsWith(` ${run}`)))
        .map((entry) => {
          const input = { session_id: session, hook_event_name: event, cwd, ...fields };
          const one = startEntry(entry, input, env, cwd);
          this.running.add(one.child);
          return { event, one };
        }),
    );
    return Promise.all(
      started.map(async ({ event, one }) => {
        const result = await one.done;
        this.running.delete(one.child);
        this.host.trace({
          ev: 'hook',
          hook: event,
          exit: result.exit,
          ms: result.ms,
          text: result.stdout + result.stderr,
        });
        return result;
      }),
    );
  }
}

/** omp's way: what our extension does inside it. */
export class ExtensionCarrier implements Carrier {
  private readonly host: Host;
  private readonly state: string;
  private boot = '';
  private connection: Connection | null = null;
  private busy = false;
  private over = false;
  private readonly added = new Set<string>();

  constructor(host: Host, state: string) {
    this.host = host;
    this.state = state;
  }

  async start(source: string): Promise<void> {
    this.boot = randomBytes(8).toString('hex');
    const known = { startup: 'startup', resume: 'resume', clear: 'clear', compact: 'compact' }[source] ?? 'startup';
    this.over = false;
    await this.hold(known, false);
  }

  private async hold(source: string, resumed: boolean): Promise<void> {
    const connection = await this.connect(true);
    this.connection = connection;
    const launch = this.host.env['SERVICE_LAUNCH'];
    const fields = { source, resumed, capabilities: ['midturn-peer'], ...(launch ? { launch } : {}) };
    await connection.send({ op: 'hello', ...this.header(), ...fields });
    const welcome = await nextFrame(connection, 20_000);
    if (welcome?.event !== 'welcome') throw new Error('the daemon did not welcome the extension');
    if (typeof welcome.note === 'string' && welcome.note) this.host.context(welcome.note);
    void this.listen(connection).then(
      () => this.again(source),
      () => this.again(source),
    );
  }

  /** A connection that was lost is made anew, unless the session is over. */
  private async again(source: string): Promise<void> {
    while (!this.over) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      if (this.over) return;
      try {
        return await this.hold(source, true);
      } catch {
        // The daemon is on its way.
      }
    }
  }

  async prompt(_text: string, wake: boolean): Promise<void> {
    this.busy = true;
    await this.tell({ op: 'prompt', wake });
    if (!wake) await this.carried('turn_start');
  }

  async tool(_name: string, input: Record<string, unknown>, subagent?: string): Promise<Record<string, unknown>> {
    const command = input['command'];
    if (subagent)
      return typeof command === 'string'
        ? { ...input, command: `export SERVICE_SUBAGENT=${subagent}; ${command}` }
        : input;
    await this.carried('boundary');
    return input;
  }

  async endTurn(): Promise<string | null> {
    this.busy = false;
    await this.tell({ op: 'turn_end' });
    return null;
  }

  async end(): Promise<void> {
    this.over = true;
    await this.connection?.send({ op: 'goodbye' });
    this.drop();
  }

  drop(): void {
    this.over = true;
    this.connection?.close();
    this.connection = null;
  }

  /** What nobody hears now the next event says anew. */
  private async tell(frame: Frame): Promise<void> {
    await this.connection?.send(frame).catch(() => {});
  }

  private header(): Header {
    const { profile, session, cwd } = this.host;
    return { harness: profile.harness, session, boot: this.boot, cwd };
  }

  private connect(start: boolean): Promise<Connection> {
    const { env } = this.host;
    const program = (env['SERVICE_KIT_PROGRAM'] ?? '').split('\n');
    return connectDaemon({
      state: this.state,
      env,
      start: start ? { program, client: this.host.session } : null,
      replaceBy: null,
    });
  }

  /** Nobody there is nothing to add; what waits comes another time. */
  private carried(op: 'turn_start' | 'boundary'): Promise<void> {
    return this.carry(op).catch(() => {});
  }

  private async carry(op: 'turn_start' | 'boundary'): Promise<void> {
    const connection = await this.connect(true);
    const fields = { ...this.header(), ...(op === 'boundary' ? { capabilities: ['midturn-peer'] } : {}) };
    const carry = (await ask(connection, op, fields)) as Carry;
    const text = textFor(carry);
    if (text) this.host.context(text);
    if (carry.handoff_id) await received(connection, carry.handoff_id);
    connection.close();
  }

  private async listen(connection: Connection): Promise<void> {
    for (;;) {
      const frame = await nextFrame(connection);
      if (frame?.event === 'release') this.over = true;
      if (frame === null || frame.event === 'release' || frame.event === 'bye') return;
      if (frame.event !== 'deliver') continue;
      const carry = frame as Carry;
      this.host.trace({ ev: 'wake', text: textFor(carry) });
      if (this.host.faults.ignoreWake) {
        this.host.faults.ignoreWake = false;
        continue;
      }
      if (!this.added.has(carry.handoff_id ?? '')) {
        if (this.busy) this.host.context(textFor(carry));
        else this.host.wake(textFor(carry));
        this.added.add(carry.handoff_id ?? '');
      }
      await connection.send({ op: 'received', handoff_id: carry.handoff_id });
    }
  }
}
