/** The build of this program, and comparing two builds. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { olderThan } from './versions.ts';

export interface Build {
  version: string;
  /** The commit it was built from, if known. */
  commit?: string;
  commit_time?: string;
}

/** The build of the package in this folder: its version and the recorded commit. */
export function buildOf(root: string): Build {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return { version, ...noted(root) };
}

function noted(root: string): { commit?: string; commit_time?: string } {
  try {
    const { commit, commit_time } = JSON.parse(readFileSync(join(root, 'dist', 'build.json'), 'utf8')) as Build;
    return { ...(commit ? { commit } : {}), ...(commit_time ? { commit_time } : {}) };
  } catch {
    return {};
  }
}

/** Whether `a` is older than `b`, by version, then by commit time. Indistinguishable builds are the same. */
export function olderBuild(a: Build, b: Build): boolean {
  if (a.version !== b.version) return olderThan(a.version, b.version);
  if (!b.commit_time) return false;
  return !a.commit_time || Date.parse(a.commit_time) < Date.parse(b.commit_time);
}
