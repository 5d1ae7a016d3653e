/** What the tests need to know of a real agent program. */
import type { Terminal } from '../terminal.ts';

/** Where a session runs: a person's home, a project, the model it talks to. */
export interface Place {
  home: string;
  project: string;
  model: string;
  env: Record<string, string>;
}

export interface Program {
  /** The profile's name. */
  harness: string;
  name: string;
  /** What a person types to start it. */
  command: string;
  /** The package it is installed in, where that is one of its own, and what it needs there to run. */
  apart?: { folder: string; beside: string[] };
  /** The version that is installed beside these tests. */
  version: string;
  /** Its first-use questions answered beforehand, as a person has done who works with it. */
  prepare(place: Place): void;
  /** A new session, or a former one by its id, ready for a prompt. */
  open(place: Place, resume?: string): Promise<Terminal>;
  /** A command of the shell that runs it for one prompt, without a terminal. */
  once(place: Place, words: string): string;
  /** Whether a process of its own goes on with the session when its terminal is gone. */
  outlives: boolean;
  /** Whether a hook of it waits while it is idle, and so notices at once when the daemon dies. */
  waits: boolean;
  /** The command of its own by which a new conversation begins in the same terminal. */
  anew: string;
  /** Leaves as a person does. */
  quit(terminal: Terminal): Promise<void>;
}
