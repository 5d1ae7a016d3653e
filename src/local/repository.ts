/** The git repository of a folder: its root, and a name that is the same for clones on other machines. */
import { execFile } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { repoName } from '../contract/repo-name.ts';

const TIMEOUT_MS = 2_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

export interface Repository {
  /** Its folder, without links. */
  root: string;
  /** Host and path of its origin, else its first commit; null if it has neither. */
  name: string | null;
}

/** Null if the folder is in no repository, or git is not installed. */
export async function repositoryOf(folder: string): Promise<Repository | null> {
  const root = await git(folder, 'rev-parse', '--show-toplevel');
  if (root === null || root === '') return null;
  const origin = repoName((await git(folder, 'config', '--get', 'remote.origin.url')) ?? '');
  const name = origin ?? (await git(folder, 'rev-list', '--max-parents=0', 'HEAD'))?.split('\n').at(-1);
  return { root, name: name || null };
}

/** A path as the repository names it; null if it is outside. */
export function pathIn(root: string, path: string): string | null {
  const inside = relative(root, withoutLinks(path));
  return inside.startsWith('..') || isAbsolute(inside) ? null : inside.split(sep).join('/');
}

/** Without links in its folders, whether or not the file is there. */
function withoutLinks(path: string): string {
  const parts = path.split(sep);
  for (let kept = parts.length; kept > 1; kept--) {
    try {
      return join(realpathSync(parts.slice(0, kept).join(sep)), ...parts.slice(kept));
    } catch {
      // Its parent folder may exist.
    }
  }
  return path;
}

/** What git prints, without its last line end; null if it fails. */
export function git(folder: string, ...words: string[]): Promise<string | null> {
  // Git sets variables for its hooks that would select another repository.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));
  return run(folder, words, env);
}

/** The staged files, relative to the repository; null if git fails. */
export async function stagedFiles(folder: string): Promise<string[] | null> {
  const words = ['-c', 'diff.relative=false', 'diff', '--cached', '--name-only', '--no-renames', '--no-ext-diff', '-z'];
  const text = await run(folder, words, process.env);
  return text === null ? null : text.split('\0').filter(Boolean);
}

/** An agent can make a repository of a folder that it may write to, with a configuration that names commands: git runs none. */
const WATCHES_NOTHING = ['-c', 'core.fsmonitor=false'];
/** The protocols are for a git that does not know the other one. */
const FETCHES_NOTHING = { GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' };

function run(cwd: string, words: string[], given: NodeJS.ProcessEnv): Promise<string | null> {
  const options = { cwd, env: { ...given, ...FETCHES_NOTHING }, timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES };
  return new Promise((resolve) => {
    execFile('git', [...WATCHES_NOTHING, ...words], options, (error, stdout) =>
      resolve(error ? null : stdout.replace(/\n$/, '')),
    );
  });
}
