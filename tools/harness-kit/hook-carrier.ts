/** Claude Code and Codex: runs the hooks in a settings file. */
import { daemonStatus } from '../../src/daemon/control/ask.ts';
import type { Hook } from '../../src/harness/profile.ts';
import { until } from '../../src/local/process.ts';
import type { Begin, Carrier, Host } from './carrier.ts';
import { answerOf, entriesFor, type HookResult, type RunningHook, startEntry } from './entries.ts';
import type { Step } from './steps.ts';

type Op = Hook['op'];

export class HookCarrier implements Carrier {
  private readonly host: Host;
  private readonly running = new Set<RunningHook>();
  private turn = 0;

  constructor(host: Host) {
    this.host = host;
  }

  async start(how: Begin, source: string): Promise<void> {
    for (const result of await this.fire('session-start', { source: how === 'fork' ? 'resume' : source }))
      this.deliver(result);
  }

  async prompt(text: string): Promise<void> {
    this.turn++;
    for (const result of await this.fire('prompt', { prompt: text })) this.deliver(result);
  }

  async tool({ name, input = {}, parallel = 1, fail }: Extract<Step, { do: 'tool' }>) {
    const about = { tool_name: name, tool_input: input };
    const marks = await this.fire('mark-subagent', about, { tool: name });
    const changed = marks.map((result) => answerOf(result).updatedInput).find((one) => one !== null);
    const each = Array.from({ length: parallel }, () => this.fire('tool', about, { tool: name, fail: fail === true }));
    for (const results of await Promise.all(each)) for (const result of results) this.deliver(result);
    return changed ?? input;
  }

  async endTurn(continued: boolean): Promise<string | null> {
    if (this.host.subagent === null) void this.runWaiting();
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

  /** Runs the hooks that wait in the background and wake the session with exit code 2. */
  private async runWaiting(): Promise<void> {
    for (const { exit, stderr } of await this.fire('wait', { stop_hook_active: false })) {
      if (exit !== 2) continue;
      this.host.trace({ ev: 'wake', text: stderr });
      if (this.host.faults.ignoreWake) this.host.faults.ignoreWake = false;
      else void this.host.wake(stderr);
    }
  }

  private deliver(result: HookResult): void {
    const { context } = answerOf(result);
    const { faults } = this.host;
    if (context && faults.dropOutput) faults.dropOutput = false;
    else if (context) this.host.context(context);
  }

  private async fire(
    op: Op,
    fields: Record<string, unknown>,
    { tool, fail = false }: { tool?: string; fail?: boolean } = {},
  ): Promise<HookResult[]> {
    const { session, subagent } = this.host;
    const { profile, settings, cwd } = this.host.options;
    const hooks = (profile.delivery.hooks ?? []).filter((hook) => hook.op === op);
    const names = hooks.flatMap(({ event, fallback }) => [event, ...(fallback ?? []).map((one) => one.event)]);
    // A failed call has its own event in some programs.
    const split = names.some((name) => name.endsWith('Failure'));
    const applies = (name: string) => !split || name.endsWith('Batch') || name.endsWith('Failure') === fail;
    const field = profile.lifecycle.subagent_field;
    const mark = subagent !== null && field ? { [field]: subagent } : {};
    const entries = names.filter(applies).flatMap((event) =>
      entriesFor(settings, event, tool)
        .filter(({ command }) => hooks.some(({ run }) => command.endsWith(` ${run}`)))
        .map((entry) => ({ event, entry })),
    );
    const turn = ['prompt', 'tool', 'turn-end'].includes(op) ? { turn_id: `turn-${this.turn}` } : {};
    return Promise.all(
      entries.map(({ event, entry }) => {
        const input = { session_id: session, hook_event_name: event, cwd, ...turn, ...fields, ...mark };
        return this.run(op, event, entry, input);
      }),
    );
  }

  private async run(op: Op, event: string, entry: Parameters<typeof startEntry>[0], input: object) {
    const { host } = this;
    const { state, cwd, folder } = host.options;
    const { hangMs, killHook } = host.faults;
    if (hangMs > 0) host.faults.hangMs = 0;
    const kill = killHook !== null && (op === 'wait' || op === 'prompt');
    const blockOutput = kill && killHook === 'answer';
    if (kill) host.faults.killHook = null;
    const before = blockOutput ? await deliveries(state) : 0;
    const hook = startEntry(entry, input, { env: host.env, cwd, hangMs, blockOutput, folder });
    this.running.add(hook);
    let over = false;
    if (blockOutput)
      void until(async () => over || (await deliveries(state)) > before, Number.POSITIVE_INFINITY, 10).then(hook.kill);
    else if (kill) void hook.output.then(() => hook.kill());
    const result = await hook.done;
    over = true;
    this.running.delete(hook);
    const { exit, ms, stdout, stderr } = result;
    host.trace({ ev: 'hook', hook: event, exit, ms, text: stdout + stderr });
    if (exit !== null) this.checkOutput(op, event, result);
    return result;
  }

  /** A hook prints nothing or one JSON object, and exits with 0; only a waiting hook with a text exits with 2. */
  private checkOutput(op: Op, event: string, result: HookResult): void {
    const { exit, stdout, stderr } = result;
    if (answerOf(result).invalid)
      this.host.violation(`the hook of ${event} printed something other than a JSON object: ${stdout}`);
    if (exit !== 0 && !(exit === 2 && op === 'wait'))
      this.host.violation(`the hook of ${event} exited with ${exit}: ${stderr}`);
  }
}

/** How many texts the daemon has delivered; 0 if it does not run. */
async function deliveries(state: string): Promise<number> {
  const status = await daemonStatus(state).catch(() => null);
  return Number((status?.metrics as { handed?: number } | undefined)?.handed ?? 0);
}
