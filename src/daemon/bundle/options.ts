/** Options for rendering a bundle. */
import { shellWord } from './escape.ts';

/** The state of a task that waited for an answer. */
export interface TaskOutcome {
  ref: string;
  /** Other asks still block it. */
  blocked: boolean;
}

export interface RenderOptions {
  /** The session holds several seats, so each message and command names its seat. */
  seats?: boolean;
  /** The session's seats are on several servers, so commands name this one. */
  server?: string;
  /** The flags that the reader used to select its seat; suggested commands repeat them instead of the above. */
  flags?: string;
  /** Tag names with a meaning to the session's program. */
  reserved?: readonly string[];
  /** Truncates the text to this many bytes, if there is less room than usual. */
  cutBytes?: number;
  /** Milliseconds of CPU time used so far; by default this process's. */
  cpuMs?: () => number;
  /** The tasks that waited for an answer, by the answer's message id. */
  outcomes?: ReadonlyMap<string, TaskOutcome>;
}

/** The flags that a suggested command needs to select the same board and seat. */
export const boardFlags = (board: string, { seats, server, flags }: RenderOptions): string =>
  flags ??
  `${seats ? ` --board ${shellWord(board)}` : ''}${server === undefined ? '' : ` --server ${shellWord(server)}`}`;
