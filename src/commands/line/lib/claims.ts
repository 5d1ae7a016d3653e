/** Which agents are on which files, as commands ask for it and show it. */

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { repeatedFlag } from '../../../cli/flags.ts';
import type { Output } from '../../../cli/output.ts';
import { showTime, type TimeStyle } from '../../../cli/terminal/time.ts';
import type { Client } from '../../../client/client.ts';
import { covers, globProblem, inEqualParts, isPlain, overlap } from '../../../contract/globs.ts';
import { escapeUntrusted } from '../../../contract/text.ts';
import type { Claim, LineOverlap } from '../../../contract/types.ts';
import { usage } from '../../../local/failure.ts';
import { isFolder } from '../../../local/folders.ts';
import { pathIn, type Repository, repositoryOf } from '../../../local/repository.ts';

/** On commands that set a line. */
export const pathFlags = {
  paths: repeatedFlag('GLOB', 'Files it is about, from the top of the repository; up to 20 times'),
};

/** The repository of this folder; outside of one, paths begin in the folder, and lines are compared with none. */
export async function repositoryHere(): Promise<Repository> {
  return (await repositoryOf(process.cwd())) ?? { root: process.cwd(), name: null };
}

/** Why outside of a repository nobody is known to be on a file. */
export const notCompared = 'lines are compared in a git repository with an origin or a commit.';

/** What a line is sent with for `--paths`: globs relative to the repository, and which one that is. */
export async function pathsOf(given: string[] | undefined, out: Output): Promise<{ paths?: string[]; repo?: string }> {
  if (given === undefined) return {};
  const { root, name } = await repositoryHere();
  const paths = given.map((path) => {
    // A folder stands for what is in it.
    const glob = isFolder(join(root, path)) ? `${path.replace(/^\.?\/*$/, '').replace(/([^/])\/*$/, '$1/')}**` : path;
    const problem = globProblem(glob);
    if (problem !== null)
      throw usage(`--paths ${path} ${problem}.`, "--paths 'src/retry/**', from the top of the repository");
    return glob;
  });
  if (paths.length > 20) throw usage('A line names at most 20 paths.');
  if (name === null)
    out.warn('paths_not_compared', `Nobody else is told of these files: ${notCompared}`, 'Say it again inside of one');
  return { paths, ...(name === null ? {} : { repo: name }) };
}

/** A path as it was typed in this folder, or a glob, as the repository names it. @throws Failure if it is outside */
export function fileHere(root: string, typed: string): string {
  const path = pathIn(root, resolve(typed));
  if (path === null) throw usage(`${typed} is not in this repository.`, 'service who src/http.ts');
  return isFolder(resolve(typed)) ? `${path === '' ? '' : `${path}/`}**` : path;
}

/** The lines of others in this repository, as the client's actor sees them. */
export async function othersIn(client: Client, { name }: Repository): Promise<Claim[]> {
  const { data } = await client.call('listClaims');
  return data.claims.filter(({ repo, own }) => repo === name && !own);
}

/** Comparing takes a few seconds at most. */
const STEPS = 2_000_000;

/** Which of the paths that were typed are asked for as globs: none that is the name of a file. */
export const globsAmong = (root: string, typed: readonly string[]): Set<string> =>
  new Set(typed.filter((path) => !isPlain(path) && !existsSync(join(root, path)) && globProblem(path) === null));

/**
 * The lines that each file can be of.
 * @param globs those of them that are globs; where the steps end, they can be of any line
 * @returns also whether each line was compared with each file
 */
export function onFiles(claims: readonly Claim[], paths: readonly string[], globs: ReadonlySet<string>) {
  const files = paths.map((path) => ({ path, agents: [] as Claim[] }));
  let whole = true;
  for (const [claim, steps] of inEqualParts(claims, STEPS)) {
    for (const { path, agents } of files)
      if (globs.has(path) ? overlap(claim.paths, [path], steps) : covers(claim.paths, path, steps)) agents.push(claim);
    if (steps.left <= 0) whole = false;
  }
  return { files, whole };
}

/** One line for each agent that is on a file. */
export const claimText = (path: string, { agent, board, line, task, since }: Claim, times: TimeStyle): string =>
  `${escapeUntrusted(path)}  ${agent} on ${board}${task === null ? '' : `, ${task}`}: ${escapeUntrusted(line)} (${showTime(since, times)})`;

/** What a line that was just set has in common with others. */
export const overlapText = (overlaps: readonly LineOverlap[] | undefined, times: TimeStyle): string =>
  (overlaps ?? [])
    .map(
      ({ agent, board, path, line, since }) =>
        `\n${agent} on ${board} is on ${escapeUntrusted(path)}: ${escapeUntrusted(line)} (${showTime(since, times)})`,
    )
    .join('');
