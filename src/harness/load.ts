/** Loads all profiles of this machine: the built-in ones, and those in the person's config folder. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '../local/folders.ts';
import { builtinProfiles } from './builtin.ts';
import type { Profile } from './profile.ts';

export interface Profiles {
  all: readonly Profile[];
  /** Skipped files with their problems: `profile_invalid`. */
  invalid: { file: string; problems: string[] }[];
}

/** Reads `<config>/harnesses/*.json`. Invalid ones are skipped and reported; none may replace a built-in one. */
export async function loadProfiles(config: string): Promise<Profiles> {
  const folder = join(config, 'harnesses');
  const files = namesIn(folder)
    .filter((name) => name.endsWith('.json'))
    .sort();
  const profiles: Profiles = { all: [...builtinProfiles], invalid: [] };
  if (files.length === 0) return profiles;
  const { conflicts: clashes, readProfile } = await import('./profile-rules.ts');
  for (const name of files) {
    const file = join(folder, name);
    const read = readProfile(parsed(file));
    const problems = 'problems' in read ? read.problems : clashes(read.profile, profiles.all);
    if ('profile' in read && problems.length === 0) profiles.all = [...profiles.all, read.profile];
    else profiles.invalid.push({ file, problems });
  }
  return profiles;
}

function parsed(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}
