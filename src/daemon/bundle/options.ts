/** What the text of a bundle depends on besides its messages. */
import { shellWord } from './escape.ts';

/** What became of the task that waited for an answer. */
export interface TaskOutcome {
  ref: string;
  /** Other asks still keep it waiting. */
  blocked: boolean;
}

export interface RenderOptions {
  /** The session holds several seats, so each message and hint says which is meant. */
  seats?: boolean;
  /** The session's seats are on several servers, so hints name this one. */
  server?: string;
  /** The flags with which the reader named its seat. They replace the others, so that proposed commands mean that seat. */
  flags?: string;
  /** Further tag names that mean something to the session's program. */
  reserved?: readonly string[];
  /** Bytes at which the text is cut, where there is less room for it than usual. */
  cutBytes?: number;
  /** Milliseconds of processor time that were spent so far, where it is not this process's. */
  cpuMs?: () => number;
  /** Of answers, by the message's id: the task that waited for them. */
  outcomes?: ReadonlyMap<string, TaskOutcome>;
}

/** What a hint's command needs to mean the same board and seat: nothing where there is only one. */
export const boardFlags = (board: string, { seats, server, flags }: RenderOptions): string =>
  flags ??
  `${seats ? ` --board ${shellWord(board)}` : ''}${server === undefined ? '' : ` --server ${shellWord(server)}`}`;
