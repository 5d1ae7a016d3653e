/** How a fake harness is connected with our program: by hooks, by an extension, or as the child of a runner. */
import type { StandIn } from '../../src/harness/load-test-kit.ts';
import type { Step, TraceLine } from './steps.ts';

/** Faults of the fake harness; each applies once. */
export interface HarnessFaults {
  /** The output of the next hook is lost. */
  dropOutput: boolean;
  /** The next wake-up is ignored. */
  ignoreWake: boolean;
  /** The next hook gets its input this late. */
  hangMs: number;
  /** The next hook with a text is killed: before it prints the text, or after. */
  killHook: 'answer' | 'output' | null;
}

/** The fake harness, as its carrier uses it. */
export interface Host {
  readonly options: Readonly<StandIn>;
  /** Variables of the harness's own process. */
  env: NodeJS.ProcessEnv;
  session: string;
  readonly faults: HarnessFaults;
  /** The subagent that acts; null for the session itself. */
  subagent: string | null;
  /** Adds a text to the session's context. */
  context(text: string): void;
  /** Starts a turn with a text, or after the current turn. @returns when that turn has ended */
  wake(text: string): Promise<void>;
  trace(line: Omit<TraceLine, 't'>): void;
  /** Reports that a hook did something that it must not do: the current step fails. */
  violation(problem: string): void;
}

export type Begin = 'start' | 'resume' | 'clear' | 'compact' | 'fork';

export interface Carrier {
  start(how: Begin, source: string, agent?: string): Promise<void>;
  /** @param wake whether the text is a wake-up, which a harness reports as a prompt */
  prompt(text: string, wake: boolean): Promise<void>;
  /** @returns the tool's input, perhaps changed by a hook */
  tool(call: Extract<Step, { do: 'tool' }>): Promise<Record<string, unknown>>;
  /** @returns a text that continues the turn; null if it ends */
  endTurn(continued: boolean): Promise<string | null>;
  end(): Promise<void>;
  /** Disconnects like a crash. */
  drop(): void;
}
