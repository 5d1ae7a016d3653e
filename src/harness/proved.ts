/** Warns about versions of agent programs that are newer than the ones this build was tested with. */
import { olderThan } from '../local/versions.ts';
import type { Profile } from './profile.ts';

export const UNTESTED = 'harness_version_untested';

/** The warning for a version newer than any that was tested; null if there is none. */
export function untested({ name, checks }: Profile, version: string | null): string | null {
  const proved = checks.proved_version;
  if (proved === undefined || version === null || !olderThan(proved, version)) return null;
  return `${name} ${version} is newer than ${proved}, the newest version that this build was tested with.`;
}
