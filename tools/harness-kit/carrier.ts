/** How a fake harness meets our program: by hooks in its settings, by an extension's connection, or as the runner's child. */
import type { Profile } from '../../src/harness/profile.ts';
import type { Step, TraceLine } from './steps.ts';

/** Faults of the fake harness; each applies once. */
export interface Mischief {
  dropOutput: boolean;
  ignoreWake: boolean;
  hangMs: number;
  killHook: 'answer' | 'output' | null;
}

export interface Host {
  readonly profile: Profile;
  /** Variables of the harness's own process. */
  env: NodeJS.ProcessEnv;
  cwd: string;
  session: string;
  settings: string;
  /** State folder of our program. */
  state: string;
  /** Where fake programs leave what they are given. */
  folder: string;
  /** Runtime and entry file of our program. */
  program: string[];
  readonly mischief: Mischief;
  /** The subagent that acts; null for the session itself. */
  subagent: string | null;
  /** Text that is now in the session's context. */
  context(text: string): void;
  /** Text that makes an idle session begin a turn. @returns when that turn is over, or the text waits for another's end */
  wake(text: string): Promise<void>;
  trace(line: Omit<TraceLine, 't'>): void;
  /** Reports a forbidden behaviour of a hook: the current step fails. */
  wrong(what: string): void;
}

export type Begin = 'start' | 'resume' | 'clear' | 'compact' | 'fork';

export interface Carrier {
  start(how: Begin, source: string, agent?: string): Promise<void>;
  /** Text that comes back as this prompt when it was a wake. */
  prompt(text: string, wake: boolean): Promise<void>;
  /** @returns the input with which the tool runs */
  tool(call: Extract<Step, { do: 'tool' }>): Promise<Record<string, unknown>>;
  /** Text with which the turn goes on, if it does. */
  endTurn(continued: boolean): Promise<string | null>;
  end(): Promise<void>;
  /** Leaves everything as a crash does. */
  drop(): void;
}
