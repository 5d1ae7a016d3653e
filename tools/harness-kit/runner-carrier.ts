/** Any other program: `service run` starts a child process for each bundle; the child's input is the session's context. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { daemonStatus } from '../../src/daemon/control/ask.ts';
import type { StatusAnswer } from '../../src/daemon/protocol.ts';
import type { Carrier, Host } from './carrier.ts';

/** Writes its input into a file for the fake harness, and exits with the code that it reads from a pipe. */
const CHILD = `#!/bin/sh
here="$1/$SERVICE_HANDOFF"
mkfifo "$here.end" && cat > "$here.part" && mv "$here.part" "$here.text"
read -r code < "$here.end"
rm -f "$here.end"
[ "$code" = kill ] && kill -9 $$
exit "$code"
`;

export class RunnerCarrier implements Carrier {
  private readonly host: Host;
  private readonly runs: string;
  private runner: ChildProcess | null = null;
  private poll: NodeJS.Timeout | undefined;

  constructor(host: Host) {
    this.host = host;
    this.runs = join(host.options.folder, `runs-${process.pid}`);
  }

  /** The runner creates the id of its session. */
  async start(_how: string, _source: string, agent = ''): Promise<void> {
    const { host, runs } = this;
    const { options } = host;
    mkdirSync(runs, { recursive: true });
    const child = join(runs, 'child.sh');
    writeFileSync(child, CHILD);
    chmodSync(child, 0o755);
    const [runtime, ...entry] = options.program;
    const args = [...entry, 'run', '--as', agent, '--harness', options.profile.harness, '--', child, runs];
    const { SERVICE_SESSION: _own, ...env } = host.env;
    const [name, board] = agent.split('@');
    const before = holderIn(await daemonStatus(options.state).catch(() => null), name!, board!);
    this.runner = spawn(runtime!, args, { env, cwd: options.cwd, stdio: 'ignore' });
    host.session = await this.sessionOf(name!, board!, before);
    host.env['SERVICE_SESSION'] = `${options.profile.harness}:${host.session}`;
    clearInterval(this.poll);
    this.poll = setInterval(() => this.readInputs(), 20);
    this.poll.unref();
  }

  async prompt(): Promise<void> {}

  async tool({ input = {} }: { input?: Record<string, unknown> }): Promise<Record<string, unknown>> {
    return input;
  }

  async endTurn(): Promise<string | null> {
    return null;
  }

  async end(): Promise<void> {
    const { runner } = this;
    this.runner = null;
    if (!runner || runner.exitCode !== null || runner.signalCode !== null) return;
    const closed = new Promise((resolve) => runner.once('close', resolve));
    runner.kill('SIGTERM');
    await closed;
    clearInterval(this.poll);
  }

  drop(): void {
    clearInterval(this.poll);
    this.runner?.kill('SIGKILL');
    this.runner = null;
  }

  /** The session that newly has the seat. @param before the session that had it */
  private async sessionOf(name: string, board: string, before: string | null): Promise<string> {
    for (let tries = 0; tries < 1_000; tries++) {
      const status = await daemonStatus(this.host.options.state).catch(() => null);
      const held = holderIn(status, name, board);
      if (held && held !== before) return held.slice(held.indexOf(':') + 1);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error('the runner has no session');
  }

  private readInputs(): void {
    for (const name of readdirSync(this.runs)) {
      if (!name.endsWith('.text')) continue;
      const path = join(this.runs, name);
      const text = readFileSync(path, 'utf8');
      rmSync(path);
      void this.runChild(join(this.runs, `${name.slice(0, -5)}.end`), text);
    }
  }

  private async runChild(end: string, text: string): Promise<void> {
    const { host } = this;
    const { hangMs, killHook } = host.faults;
    host.faults.hangMs = 0;
    host.faults.killHook = null;
    host.trace({ ev: 'wake', text });
    if (killHook !== 'answer') {
      const turn = host.wake(text);
      if (hangMs > 0) await new Promise((resolve) => setTimeout(resolve, hangMs));
      await turn;
    }
    // The child may have been stopped with the runner.
    if (existsSync(end)) spawn('/bin/sh', ['-c', `echo ${killHook ? 'kill' : 0} > '${end}'`], { stdio: 'ignore' });
  }
}

/** The open session that holds a seat. */
const holderIn = (status: StatusAnswer | null, name: string, board: string): string | null =>
  status?.bindings?.find(({ agent, open }) => open && agent.name === name && agent.board === board)?.session ?? null;
