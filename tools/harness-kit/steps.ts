/** The commands of a fake harness, one line of JSON each, and the lines of its trace. */

export type Step =
  /** Session life. `agent` is the seat that a runner serves; the others join boards by themselves. */
  | { do: 'start'; session?: string; source?: string; agent?: string }
  /** The same session in a new life of it, another one in its place, the same one with less context, a branch of it. */
  | { do: 'resume' | 'clear' | 'compact' | 'fork'; session?: string }
  | { do: 'quit' | 'kill' }
  | { do: 'prompt'; text: string }
  /** `parallel` calls at once; one that fails is another event in some programs. */
  | { do: 'tool'; name: string; input?: Record<string, unknown>; parallel?: number; fail?: boolean }
  | { do: 'end_turn' }
  /** A command that the agent runs. */
  | { do: 'command'; argv: string[]; env?: Record<string, string> }
  /** The same things inside a part of the session. */
  | { do: 'subagent'; id: string; steps: Step[] }
  /** Runs the reply command printed in a bundle, in place of a model. */
  | { do: 'auto_reply'; on: boolean }
  /** What the next hook prints is lost; the next wake is. */
  | { do: 'drop_output' | 'ignore_wake' }
  /** The next hook gets its input this late. */
  | { do: 'hang_hook'; ms: number }
  /** The next hook that has something to say is killed: before it could say it, or before it ends. */
  | { do: 'kill_hook'; after: 'answer' | 'output' }
  /** The program's queue command fails so often. */
  | { do: 'queue_fail'; n: number }
  /** Commands from now on run in the program's sandbox, with or without a network. */
  | { do: 'sandbox'; network: boolean }
  /** What the program says its version is. */
  | { do: 'version'; v: string }
  | { do: 'expect'; context_contains?: string; no_context?: string; turns?: number; within_ms?: number };

export interface StepResult {
  /** Of a command; of several, the last one's. */
  code?: number | null;
  stdout?: string;
  stderr?: string;
  /** Of `expect`. */
  met?: boolean;
}

/** What happened, in order. `context`: text that is now in the session; `wake`: one that began or will begin a turn. */
export interface TraceLine {
  /** Milliseconds since the epoch. */
  t: number;
  ev: 'hook' | 'context' | 'turn' | 'wake' | 'queue' | 'exit';
  /** Event of a hook. */
  hook?: string;
  /** Null where a hook was killed. */
  exit?: number | null;
  ms?: number;
  text?: string;
}
