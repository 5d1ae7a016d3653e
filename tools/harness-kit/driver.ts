/** Controls one fake harness process: sends steps, receives their results and the trace. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { parseJsonObject } from '../../src/local/json.ts';
import type { Step, StepResult, TraceLine } from './steps.ts';

/** Why a check failed. */
export class KitFailure extends Error {}

const STEP_TIMEOUT_MS = 60_000;

type StepAnswer = StepResult & { step: number; ok: boolean; error?: string };

export class Driver {
  readonly trace: TraceLine[] = [];
  /** The output of its commands, and its standard error. */
  readonly printed: string[] = [];
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, (answer: Omit<StepAnswer, 'step'>) => void>();
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

  /** Performs one step. @throws KitFailure if that failed */
  async step(step: Step): Promise<StepResult> {
    const n = ++this.n;
    const result = await new Promise<Omit<StepAnswer, 'step'>>((resolve) => {
      const timer = setTimeout(() => resolve({ ok: false, error: 'took too long' }), STEP_TIMEOUT_MS);
      this.waiting.set(n, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      this.child.stdin!.write(`${JSON.stringify({ ...step, step: n })}\n`);
    });
    if (!result.ok)
      throw new KitFailure(`step ${step.do}: ${result.error} ${this.printed.join('').slice(-300)}`.trim());
    return result;
  }

  /** Runs a command of ours in the session. @returns its exit code and its JSON output */
  async service(...words: string[]): Promise<{ code: number; json: Record<string, unknown> }> {
    const { code, stdout } = await this.step({ do: 'command', argv: ['service', ...words, '--json'] });
    return { code: code ?? -1, json: jsonOf(stdout ?? '') };
  }

  /** The texts in the session's context. @param since skips this many lines of the trace */
  contexts(since = 0): string[] {
    return this.texts('context', since);
  }

  /** The texts of the trace's lines of one kind. */
  texts(kind: TraceLine['ev'], since = 0): string[] {
    return this.trace
      .slice(since)
      .filter(({ ev }) => ev === kind)
      .map(({ text }) => text ?? '');
  }

  /** How many texts in the session's context contain this. */
  count(part: string, since = 0): number {
    return this.contexts(since).filter((text) => text.includes(part)).length;
  }

  /** Waits for a text in the session's context. @throws KitFailure after `ms` */
  async expectContext(part: string, what: string, ms = 10_000): Promise<void> {
    const { met } = await this.step({ do: 'expect', context_contains: part, within_ms: ms });
    if (!met) throw new KitFailure(`${what} did not reach the session`);
  }

  /** Ends it like a crash. */
  async kill(): Promise<void> {
    await this.step({ do: 'kill' }).catch(() => {});
    await this.close();
  }

  get ended(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  async close(): Promise<void> {
    if (this.ended) return;
    const closed = new Promise((resolve) => this.child.once('close', resolve));
    this.child.stdin!.end();
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 2_000);
    await closed;
    clearTimeout(timer);
  }

  private read(line: string): void {
    const entry = JSON.parse(line) as TraceLine | StepAnswer;
    if (!('step' in entry)) {
      this.trace.push(entry);
      return;
    }
    this.printed.push(entry.stdout ?? '', entry.stderr ?? '');
    this.waiting.get(entry.step)?.(entry);
    this.waiting.delete(entry.step);
  }
}

/** The JSON output of a command; empty if it is not a JSON object. */
export const jsonOf = (text: string): Record<string, unknown> => parseJsonObject(text) ?? {};
