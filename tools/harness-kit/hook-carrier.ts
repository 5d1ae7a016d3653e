/** Claude Code's and Codex's way: the entries of a settings file, run as the program runs them. */
import { daemonStatus } from '../../src/daemon/control/ask.ts';
import type { Profile } from '../../src/harness/profile.ts';
import type { Begin, Carrier, Host } from './carrier.ts';
import { answerOf, entriesFor, type HookResult, type Started, startEntry } from './entries.ts';
import type { Step } from './steps.ts';

type Op = NonNullable<Profile['delivery']['hooks']>[number]['op'];

export class HookCarrier implements Carrier {
  private readonly host: Host;
  private readonly running = new Set<Started>();
  private turn = 0;

  constructor(host: Host) {
    this.host = host;
  }

  async start(how: Begin, source: string): Promise<void> {
    for (const result of await this.fire('session-start', { source: how === 'fork' ? 'resume' : source }))
      this.take(result);
  }

  async prompt(text: string): Promise<void> {
    this.turn++;
    for (const result of await this.fire('prompt', { prompt: text })) this.take(result);
  }

  async tool({ name, input = {}, parallel = 1, fail }: Extract<Step, { do: 'tool' }>) {
    const about = { tool_name: name, tool_input: input };
    const marks = await this.fire('mark-subagent', about, { tool: name });
    const changed = marks.map((result) => answerOf(result).updatedInput).find((one) => one !== null);
    const each = Array.from({ length: parallel }, () => this.fire('tool', about, { tool: name, fail: fail === true }));
    for (const results of await Promise.all(each)) for (const result of results) this.take(result);
    return changed ?? input;
  }

  async endTurn(continued: boolean): Promise<string | null> {
    if (this.host.subagent === null) void this.waits();
    const results = await this.fire('turn-end', { stop_hook_active: continued });
    return results.map((result) => answerOf(result).block).find((text) => text !== null) ?? null;
  }

  async end(): Promise<void> {
    await this.fire('end', { reason: 'exit' });
    this.drop();
  }

  drop(): void {
    for (const one of this.running) one.kill();
    this.running.clear();
  }

  /** Hooks that wait in the background and wake with exit 2. */
  private async waits(): Promise<void> {
    for (const { exit, stderr } of await this.fire('wait', { stop_hook_active: false })) {
      if (exit !== 2) continue;
      this.host.trace({ ev: 'wake', text: stderr });
      if (this.host.mischief.ignoreWake) this.host.mischief.ignoreWake = false;
      else void this.host.wake(stderr);
    }
  }

  private take(result: HookResult): void {
    const { context } = answerOf(result);
    const { mischief } = this.host;
    if (context && mischief.dropOutput) mischief.dropOutput = false;
    else if (context) this.host.context(context);
  }

  private async fire(
    op: Op,
    fields: Record<string, unknown>,
    { tool, fail = false }: { tool?: string; fail?: boolean } = {},
  ): Promise<HookResult[]> {
    const { profile, settings, cwd, session, subagent } = this.host;
    const hooks = (profile.delivery.hooks ?? []).filter((hook) => hook.op === op);
    const names = hooks.flatMap(({ event, fallback }) => [event, ...(fallback ?? []).map((one) => one.event)]);
    // Where failed calls have an event of their own, the usual one is not fired for them.
    const split = names.some((name) => name.endsWith('Failure'));
    const isMeant = (name: string) => !split || name.endsWith('Batch') || name.endsWith('Failure') === fail;
    const field = profile.lifecycle.subagent_field;
    const part = subagent !== null && field ? { [field]: subagent } : {};
    const entries = names.filter(isMeant).flatMap((event) =>
      entriesFor(settings, event, tool)
        .filter(({ command }) => hooks.some(({ run }) => command.endsWith(` ${run}`)))
        .map((entry) => ({ event, entry })),
    );
    const turn = ['prompt', 'tool', 'turn-end'].includes(op) ? { turn_id: `turn-${this.turn}` } : {};
    return Promise.all(
      entries.map(({ event, entry }) => {
        const input = { session_id: session, hook_event_name: event, cwd, ...turn, ...fields, ...part };
        return this.run(op, event, entry, input);
      }),
    );
  }

  private async run(
    op: Op,
    event: string,
    entry: Parameters<typeof startEntry>[0],
    input: object,
  ): Promise<HookResult> {
    const { host } = this;
    const { hangMs, killHook } = host.mischief;
    if (hangMs > 0) host.mischief.hangMs = 0;
    const meant = killHook !== null && (op === 'wait' || op === 'prompt');
    const mute = meant && killHook === 'answer';
    if (meant) host.mischief.killHook = null;
    const before = mute ? await handed(host.state) : 0;
    const one = startEntry(entry, input, { env: host.env, cwd: host.cwd, hangMs, mute, folder: host.folder });
    this.running.add(one);
    let over = false;
    if (mute) void once(async () => over || (await handed(host.state)) > before).then(() => one.kill());
    if (meant && !mute) void one.output.then(() => one.kill());
    const result = await one.done;
    over = true;
    this.running.delete(one);
    const { exit, ms, stdout, stderr } = result;
    host.trace({ ev: 'hook', hook: event, exit, ms, text: stdout + stderr });
    if (exit !== null) this.judge(op, event, result);
    return result;
  }

  /** A hook prints nothing or one JSON object, and ends with 0; with 2 only where it waited and brings something. */
  private judge(op: Op, event: string, result: HookResult): void {
    const { exit, stdout, stderr } = result;
    if (answerOf(result).bad) this.host.wrong(`the hook of ${event} printed what is no JSON object: ${stdout}`);
    if (exit !== 0 && !(exit === 2 && op === 'wait'))
      this.host.wrong(`the hook of ${event} ended with ${exit}: ${stderr}`);
  }
}

/** Texts that the daemon has given to anybody so far; 0 where none runs. */
async function handed(state: string): Promise<number> {
  const status = await daemonStatus(state).catch(() => null);
  return Number((status?.metrics as { handed?: number } | undefined)?.handed ?? 0);
}

async function once(done: () => Promise<boolean>): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setTimeout(resolve, 10));
}
