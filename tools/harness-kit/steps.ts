/** The steps that a fake harness performs, and the lines of its trace; both are lines of JSON. */

export type Step =
  /** Starts a session. `agent`: the seat that a runner serves. */
  | { do: 'start'; session?: string; source?: string; agent?: string }
  /** Resumes the session, replaces it by another, shortens its context, or branches it. */
  | { do: 'resume' | 'clear' | 'compact' | 'fork'; session?: string }
  | { do: 'quit' | 'kill' }
  | { do: 'prompt'; text: string }
  /** A tool call; `parallel`: this many at once. */
  | { do: 'tool'; name: string; input?: Record<string, unknown>; parallel?: number; fail?: boolean }
  | { do: 'end_turn' }
  /** The agent runs a command. */
  | { do: 'command'; argv: string[]; env?: Record<string, string> }
  /** A subagent performs steps. */
  | { do: 'subagent'; id: string; steps: Step[] }
  /** Runs the reply commands in bundles, like a model. */
  | { do: 'auto_reply'; on: boolean }
  /** Loses the output of the next hook; ignores the next wake-up. */
  | { do: 'drop_output' | 'ignore_wake' }
  /** Delays the input of the next hook. */
  | { do: 'hang_hook'; ms: number }
  /** Kills the next hook with a text: before it prints the text, or after. */
  | { do: 'kill_hook'; after: 'answer' | 'output' }
  /** Makes the next calls of the program's queue command fail. */
  | { do: 'queue_fail'; n: number }
  /** Runs later commands in the program's sandbox, with or without a network. */
  | { do: 'sandbox'; network: boolean }
  /** Sets the version that the program prints. */
  | { do: 'version'; v: string }
  /** Waits until a text is in the session's context and enough turns have started; `no_context` must not appear. */
  | { do: 'expect'; context_contains?: string; no_context?: string; turns?: number; within_ms?: number };

export interface StepResult {
  /** Of the last command. */
  code?: number | null;
  stdout?: string;
  stderr?: string;
  /** Of `expect`: whether it happened in time. */
  met?: boolean;
}

/** Something that happened. `context`: a text was added to the session's context; `wake`: a text starts a turn. */
export interface TraceLine {
  /** Milliseconds since the epoch. */
  t: number;
  ev: 'hook' | 'context' | 'turn' | 'wake' | 'queue' | 'exit';
  /** The event of a hook. */
  hook?: string;
  /** Null if the hook was killed. */
  exit?: number | null;
  ms?: number;
  text?: string;
}
