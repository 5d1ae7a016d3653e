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

/** Tags with a meaning to the program of a profile; those of all profiles where it may be any program. */
export const reservedTags = (profile: Profile | null, all: readonly Profile[]): string[] =>
  profile && profile.identity.kind !== 'runner'
    ? (profile.reserved_tags ?? [])
    : [...new Set(all.flatMap(({ reserved_tags }) => reserved_tags ?? []))];

/** The hook for the last word of a hook command. */
export const hookOf = (profile: Profile, run: string): Hook | null =>
  profile.delivery.hooks?.find((hook) => hook.run === run) ?? null;
