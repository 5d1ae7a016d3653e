/** Types of a check and its findings. A check changes nothing, starts nothing and asks no questions. */
import type { z } from 'zod';
import type { Env, Folders } from '../../../local/folders.ts';
import type { Credentials } from '../../../local/keys/credentials.ts';
import type { finding } from './shapes.ts';

export type Finding = z.infer<typeof finding>;

/** What every check is given. */
export interface Around {
  folders: Folders;
  env: Env;
  /** Of this build. */
  version: string;
  /** Milliseconds since the epoch. */
  now(): number;
  /** The credentials; null where they cannot be read, which is a finding of its own. */
  saved: Credentials | null;
  /** Milliseconds that a check has. */
  limitMs: number;
}

export interface Check {
  /** Names the findings of a check that could not finish. */
  name: string;
  run(around: Around): Promise<Finding[]>;
  /** What `--fix` does before anything is looked at; answers what it changed, a line each. */
  repair?(around: Around): Promise<string[]>;
}

export const fine = (name: string, message: string): Finding => ({ name, level: 'ok', code: null, message, fix: null });

export const note = (name: string, code: string, message: string): Finding => ({
  ...fine(name, message),
  level: 'note',
  code,
});

const wrong =
  (level: 'warning' | 'error') =>
  (name: string, code: string, message: string, fix: string | null): Finding => ({ name, level, code, message, fix });

export const warning = wrong('warning');
export const failing = wrong('error');
