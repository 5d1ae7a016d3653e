/** The built-in profiles. Imports no library, because hooks and every command load this file. */
import type { Hook, Profile } from './profile.ts';
import { claudeCode } from './profiles/claude-code.ts';
import { codex } from './profiles/codex.ts';
import { command } from './profiles/command.ts';
import { omp } from './profiles/omp.ts';

export const builtinProfiles: readonly Profile[] = [claudeCode, codex, omp, command];

/** The built-in profile of this name. */
export const builtinProfile = (harness: string): Profile | null =>
  builtinProfiles.find((profile) => profile.harness === harness) ?? null;

/** The hook for the last word of a hook command. */
export const hookOf = (profile: Profile, run: string): Hook | null =>
  profile.delivery.hooks?.find((hook) => hook.run === run) ?? null;
