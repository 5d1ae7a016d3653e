/** The kit's end of one fake harness: steps in, results and trace out. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Step, StepResult } from './fake-harness.ts';

export interface TraceLine {
  t: number;
  ev: string;
  text?: string;
  [field: string]: unknown;
}

/** A check that did not hold, in words. */
export class KitFailure extends Error {}

const LONGEST_MS = 60_000;

export class Driver {
  readonly trace: TraceLine[] = [];
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, (result: StepResult & { ok: boolean; error?: string }) => void>();
  private n = 0;

  constructor(argv: string[], env: NodeJS.ProcessEnv, cwd: string) {
    this.child = spawn(argv[0]!, argv.slice(1), { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    this.child.stdin!.on('error', () => {});
    this.child.stderr!.on('data', (part: Buffer) =>
      this.trace.push({ t: Date.now(), ev: 'stderr', text: part.toString() }),
    );
    createInterface({ input: this.child.stdout! }).on('line', (line) => this.read(line));
    this.child.on('close', () => {
      for (const settle of this.waiting.values()) settle({ ok: false, error: 'the fake harness ended' });
      this.waiting.clear();
    });
  }

  /** Performs one step. @throws KitFailure when it could not be. */
  async step(step: Step): Promise<StepResult> {
    const n = ++this.n;
    const result = await new Promise<StepResult & { ok: boolean; error?: string }>((resolve) => {
      const timer = setTimeout(() => resolve({ ok: false, error: 'took too long' }), LONGEST_MS);
      this.waiting.set(n, (told) => {
        clearTimeout(timer);
        resolve(told);
      });
      this.child.stdin!.write(`${JSON.stringify({ n, ...step })}\n`);
    });
    if (!result.ok) throw new KitFailure(`step ${step.do}: ${result.error}`);
    return result;
  }

  /** A command of ours in the session, as its JSON. */
  async service(...words: string[]): Promise<{ code: number; json: Record<string, unknown> }> {
    const { code, stdout } = await this.step({ do: 'command', argv: ['service', ...words, '--json'] });
    return { code: code ?? -1, json: jsonOf(stdout ?? '') };
  }

  /** The texts that reached the session's context. */
  contexts(): string[] {
    return this.trace.filter(({ ev }) => ev === 'context').map(({ text }) => text ?? '');
  }

  async sees(contains: string, what: string, ms = 10_000): Promise<void> {
    const { met } = await this.step({ do: 'expect', contains, within_ms: ms });
    if (!met) throw new KitFailure(`${what} did not reach the session`);
  }

  /** Ends it as a crash does. */
  kill(): void {
    this.child.kill('SIGKILL');
  }

  async close(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const closed = new Promise((resolve) => this.child.once('close', resolve));
    this.child.stdin!.end();
    const timer = setTimeout(() => this.kill(), 2_000);
    await closed;
    clearTimeout(timer);
  }

  private read(line: string): void {
    const entry = JSON.parse(line) as TraceLine & { n?: number };
    this.trace.push(entry);
    if (entry.ev !== 'step' || entry.n === undefined) return;
    this.waiting.get(entry.n)?.(entry as unknown as StepResult & { ok: boolean });
    this.waiting.delete(entry.n);
  }
}

/** What a command printed with --json; empty where it printed none. */
export function jsonOf(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
