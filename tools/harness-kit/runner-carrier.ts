/** Any program's way: `service run` starts a child for each bundle, and what the child was given is what the session has. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { daemonStatus } from '../../src/daemon/control/ask.ts';
import type { StatusAnswer } from '../../src/daemon/protocol.ts';
import type { Carrier, Host } from './carrier.ts';

/** Leaves its text where the fake harness looks, and ends as it is told through a pipe. */
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
  private looking: NodeJS.Timeout | undefined;

  constructor(host: Host) {
    this.host = host;
    this.runs = join(host.folder, `runs-${process.pid}`);
  }

  /** The runner makes its session's id itself. */
  async start(_how: string, _source: string, agent = ''): Promise<void> {
    const { host, runs } = this;
    mkdirSync(runs, { recursive: true });
    const child = join(runs, 'child.sh');
    writeFileSync(child, CHILD);
    chmodSync(child, 0o755);
    const [runtime, ...entry] = host.program;
    const args = [...entry, 'run', '--as', agent, '--harness', host.profile.harness, '--', child, runs];
    const { SERVICE_SESSION: _own, ...env } = host.env;
    const [name, board] = agent.split('@');
    const before = holderIn(await daemonStatus(host.state).catch(() => null), name!, board!);
    this.runner = spawn(runtime!, args, { env, cwd: host.cwd, stdio: 'ignore' });
    host.session = await this.sessionOf(name!, board!, before);
    host.env['SERVICE_SESSION'] = `${host.profile.harness}:${host.session}`;
    clearInterval(this.looking);
    this.looking = setInterval(() => this.look(), 20);
    this.looking.unref();
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
    clearInterval(this.looking);
  }

  drop(): void {
    clearInterval(this.looking);
    this.runner?.kill('SIGKILL');
    this.runner = null;
  }

  /** The session that has the seat now, and had it not before. @param before whose it was */
  private async sessionOf(name: string, board: string, before: string | null): Promise<string> {
    for (let tries = 0; tries < 1_000; tries++) {
      const status = await daemonStatus(this.host.state).catch(() => null);
      const held = holderIn(status, name, board);
      if (held && held !== before) return held.slice(held.indexOf(':') + 1);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error('the runner has no session');
  }

  private look(): void {
    for (const name of readdirSync(this.runs)) {
      if (!name.endsWith('.text')) continue;
      const path = join(this.runs, name);
      const text = readFileSync(path, 'utf8');
      rmSync(path);
      void this.given(join(this.runs, `${name.slice(0, -5)}.end`), text);
    }
  }

  private async given(end: string, text: string): Promise<void> {
    const { host } = this;
    const { hangMs, killHook } = host.mischief;
    host.mischief.hangMs = 0;
    host.mischief.killHook = null;
    host.trace({ ev: 'wake', text });
    if (killHook !== 'answer') {
      const turn = host.wake(text);
      if (hangMs > 0) await new Promise((resolve) => setTimeout(resolve, hangMs));
      await turn;
    }
    // Its child may have been stopped with the runner.
    if (existsSync(end)) spawn('/bin/sh', ['-c', `echo ${killHook ? 'kill' : 0} > '${end}'`], { stdio: 'ignore' });
  }
}

/** The open session that holds a seat. */
const holderIn = (status: StatusAnswer | null, name: string, board: string): string | null =>
  status?.bindings?.find(({ agent, open }) => open && agent.name === name && agent.board === board)?.session ?? null;
