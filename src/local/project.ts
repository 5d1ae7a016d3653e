/** `.service` in a project: which server and board its folder belongs to. Never a secret, never an agent. */
import { readFileSync, unlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Failure } from './failure.ts';
import { writePrivate } from './private-file.ts';

export interface ProjectFile {
  path: string;
  server: string;
  board: string;
}

const NAME = '.service';

/** The first `.service` from this folder upward, ending at the home folder or the root. */
export function findProject(from = process.cwd(), home = process.env.HOME || homedir()): ProjectFile | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = readProject(join(folder, NAME));
    if (found) return found;
    if (folder === home || dirname(folder) === folder) return null;
  }
}

/** Links a folder to a board. */
export function writeProject(folder: string, server: string, board: string): string {
  const path = join(folder, NAME);
  writePrivate(path, `${JSON.stringify({ server, board }, null, 2)}\n`, 0o644);
  return path;
}

/** Removes the link. */
export function removeProject(project: ProjectFile): void {
  unlinkSync(project.path);
}

function readProject(path: string): ProjectFile | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    // A folder or an unreadable thing of that name is not ours.
    if (['ENOENT', 'EISDIR', 'EACCES', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
  try {
    const { server, board } = JSON.parse(text) as Record<string, unknown>;
    if (typeof server === 'string' && typeof board === 'string') return { path, server, board };
  } catch {
    // Falls through to the same refusal.
  }
  throw new Failure('config_corrupt', `${path} is not a project file of this program; it was left as it is.`, {
    hint: `It looks like {"server": "https://team.example.com", "board": "general"}`,
  });
}
