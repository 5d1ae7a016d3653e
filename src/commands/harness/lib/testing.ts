/** Runs the conformance kit. */
import { existsSync, readFileSync } from 'node:fs';
import { runtime } from '../../../cli/runtime.ts';
import { reasonOf } from '../../../cli/stdin.ts';
import { loadProfiles } from '../../../harness/load.ts';
import type { Profile } from '../../../harness/profile.ts';
import { usage } from '../../../local/failure.ts';
import { parseJson } from '../../../local/json.ts';

/** A profile by its name, or the one in a file. @throws Failure `invalid_request` (exit 2) */
export async function profileMeant(named: string): Promise<Profile> {
  const { all } = await loadProfiles(runtime().folders.config);
  const known = all.find(({ harness }) => harness === named);
  if (known) return known;
  if (!existsSync(named))
    throw usage(`There is no profile called ${named}.`, `Choose: ${all.map(({ harness }) => harness).join(', ')}`);
  const { readProfile } = await import('../../../harness/profile-rules.ts');
  const read = readProfile(parseJson(textOf(named)));
  if ('profile' in read) return read.profile;
  const { problems } = read;
  throw usage(`${named} is no profile: ${problems[0]}`, 'Mend it, then run the command again', { problems });
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw usage(`The file ${path} cannot be read: ${reasonOf(error)}.`);
  }
}
