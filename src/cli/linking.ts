/** Tying a folder to a board. */
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { findProject, writeProject } from '../local/project.ts';
import { runtime } from './runtime.ts';

export interface Linked {
  path: string;
  previous: { server: string; board: string } | null;
}

/** Writes `.service` here, over one that is here. */
export function linkFolder(server: string, board: string): Linked {
  const here = process.cwd();
  const found = findProject();
  const path = writeProject(here, server, board);
  const previous = found && dirname(found.path) === here ? { server: found.server, board: found.board } : null;
  return { path, previous };
}

/** Links a folder that has no link yet. Never the home folder: that would be a default for everything below it. */
export function linkIfUnlinked(server: string, board: string): { linked: boolean; stays_linked?: string } {
  const found = findProject();
  if (found) return found.board === board ? { linked: true } : { linked: false, stays_linked: found.board };
  const here = process.cwd();
  if (here === (runtime().env.HOME || homedir()) || dirname(here) === here) return { linked: false };
  try {
    writeProject(here, server, board);
    return { linked: true };
  } catch {
    // A folder that cannot be written is simply not linked; the board exists all the same.
    return { linked: false };
  }
}
