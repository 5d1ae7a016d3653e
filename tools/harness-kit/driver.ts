/** The kit's end of one fake harness: steps in, results and trace out. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Step, StepResult, TraceLine } from './steps.ts';

/** A check that did not hold, in words. */
export class KitFailure extends Error {}

const LONGEST_MS = 60_000;

type Told = StepResult & { step: number; ok: boolean; error?: string };

export class Driver {
  readonly trace: TraceLine[] = [];
  /** Everything else that it printed. */
  readonly printed: string[] = [];
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, (told: Omit<Told, 'step'>) => void>();
  private n = 0;

  constructor(argv: string[], env: NodeJS.ProcessEnv, cwd: string) {
    this.child = spawn(argv[0]!, argv.slice(1), { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    this.child.stdin!.on('error', () => {});
    this.child.stderr!.on('data', (part: Buffer) => this.printed.push(part.toString()));
    createInterface({ input: this.child.stdout! }).on('line', (line) => this.read(line));
    this.child.on('close', () => {
      for (const settle of this.waiting.values()) settle({ ok: false, error: 'the fake harness ended' });
      this.waiting.clear();
    });
  }

  /** Performs one step. @throws KitFailure when it could not be. */
  async step(step: Step): Promise<StepResult> {
    const n = ++this.n;
    const result = await new Promise<Omit<Told, 'step'>>((resolve) => {
      const timer = setTimeout(() => resolve({ ok: false, error: 'took too long' }), LONGEST_MS);
      this.waiting.set(n, (told) => {
        clearTimeout(timer);
        resolve(told);
      });
      this.child.stdin!.write(`${JSON.stringify({ ...step, step: n })}\n`);
    });
    if (!result.ok)
      throw new KitFailure(`step ${step.do}: ${result.error} ${this.printed.join('').slice(-300)}`.trim());
    return result;
  }

  /** A command of ours in the session, as its JSON. */
  async service(...words: string[]): Promise<{ code: number; json: Record<string, unknown> }> {
    const { code, stdout } = await this.step({ do: 'command', argv: ['service', ...words, '--json'] });
    return { code: code ?? -1, json: jsonOf(stdout ?? '') };
  }

  /** The texts that reached the session's context. @param since lines of the trace that were there before */
  contexts(since = 0): string[] {
    return this.of('context', since);
  }

  /** Texts of one kind of line. */
  of(kind: TraceLine['ev'], since = 0): string[] {
    return this.trace
      .slice(since)
      .filter(({ ev }) => ev === kind)
      .map(({ text }) => text ?? '');
  }

  /** How many texts of the session hold this. */
  times(part: string, since = 0): number {
    return this.contexts(since).filter((text) => text.includes(part)).length;
  }

  async sees(part: string, what: string, ms = 10_000): Promise<void> {
    const { met } = await this.step({ do: 'expect', context_contains: part, within_ms: ms });
    if (!met) throw new KitFailure(`${what} did not reach the session`);
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    await this.step({ do: 'kill' }).catch(() => {});
    await this.close();
  }

  get gone(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  async close(): Promise<void> {
    if (this.gone) return;
    const closed = new Promise((resolve) => this.child.once('close', resolve));
    this.child.stdin!.end();
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 2_000);
    await closed;
    clearTimeout(timer);
  }

  private read(line: string): void {
    const entry = JSON.parse(line) as TraceLine | Told;
    if (!('step' in entry)) {
      this.trace.push(entry);
      return;
    }
    this.printed.push(entry.stdout ?? '', entry.stderr ?? '');
    this.waiting.get(entry.step)?.(entry);
    this.waiting.delete(entry.step);
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
