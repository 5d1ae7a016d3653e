/** The repository that a folder is in: where it begins, and the name by which its clones on other machines are known too. */
import { execFile } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { repoName } from '../contract/repo-name.ts';

const LONGEST_MS = 2_000;
const MOST_BYTES = 16 * 1024 * 1024;

export interface Repository {
  /** Its folder, without links. */
  root: string;
  /** Host and path of its origin, else its first commit; null if it has neither. */
  name: string | null;
}

/** Null where the folder is in none, or git is not there. */
export async function repositoryOf(folder: string): Promise<Repository | null> {
  const root = await git(folder, 'rev-parse', '--show-toplevel');
  if (root === null || root === '') return null;
  const origin = repoName((await git(folder, 'config', '--get', 'remote.origin.url')) ?? '');
  const name = origin ?? (await git(folder, 'rev-list', '--max-parents=0', 'HEAD'))?.split('\n').at(-1);
  return { root, name: name || null };
}

/** A path as the repository names it; null if it is outside. */
export function pathIn(root: string, path: string): string | null {
  const inside = relative(root, whole(path));
  return inside.startsWith('..') || isAbsolute(inside) ? null : inside.split(sep).join('/');
}

/** Without links in its folders, whether or not the file is there. */
function whole(path: string): string {
  const parts = path.split(sep);
  for (let kept = parts.length; kept > 1; kept--) {
    try {
      return join(realpathSync(parts.slice(0, kept).join(sep)), ...parts.slice(kept));
    } catch {
      // The folder above it may be there.
    }
  }
  return path;
}

/** What git prints, without its last line end; null if it fails. */
export function git(folder: string, ...words: string[]): Promise<string | null> {
  // Git gives its hooks variables that would name another repository than the folder's.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));
  return run(folder, words, env);
}

/** The files that the commit under way changes, as its repository names them; null if git cannot tell. */
export async function stagedFiles(folder: string): Promise<string[] | null> {
  const words = ['diff', '--cached', '--name-only', '--no-renames', '--no-ext-diff', '-z'];
  const text = await run(folder, words, process.env);
  return text === null ? null : text.split('\0').filter(Boolean);
}

function run(cwd: string, words: string[], env: NodeJS.ProcessEnv): Promise<string | null> {
  return new Promise((resolve) => {
    execFile('git', words, { cwd, env, timeout: LONGEST_MS, maxBuffer: MOST_BYTES }, (error, stdout) =>
      resolve(error ? null : stdout.replace(/\n$/, '')),
    );
  });
}
