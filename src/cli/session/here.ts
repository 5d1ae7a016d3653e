/** Detects where the command runs: in a terminal, or in which session of an agent program. Detected once per run. */
import { builtinProfiles, reservedTags } from '../../harness/builtin.ts';
import { type DetectedSession, detectSession, type SessionHere } from '../../harness/detect.ts';
import { loadProfiles } from '../../harness/load.ts';
import type { Profile } from '../../harness/profile.ts';
import { type Program, refreshLauncher } from '../../harness/setup/launcher.ts';
import { environmentToken } from '../../local/actors.ts';
import { Failure } from '../../local/failure.ts';
import { runsFromSources } from '../../local/program.ts';
import { runtime } from '../runtime.ts';
import { showToAgent } from '../terminal/terminal.ts';

/** This program, as hooks find it. */
export function ownProgram(): Program {
  const { env, folders, program } = runtime();
  return { runtime: process.execPath, entry: program, folders, env };
}

let told: DetectedSession | null = null;
let profiles: readonly Profile[] = builtinProfiles;

/** Reads the profiles that the person added, which may know programs that are not built in. Before anything else. */
export async function lookAround(): Promise<void> {
  const { env, folders } = runtime();
  profiles = (await loadProfiles(folders.config)).all;
  told = detectSession(env, profiles);
  if (!told.sandbox && !runsFromSources()) refreshLauncher(ownProgram());
  if (!told.inside) return;
  const { body } = await import('../../daemon/bundle/escape.ts');
  const reserved = reservedHere();
  showToAgent((text) => body(text, reserved) ?? '');
}

/** What was found, or what the built-in profiles tell. */
export function here(): DetectedSession {
  told ??= detectSession(runtime().env, profiles);
  return told;
}

/** Whether an agent's program runs this command. */
export const inSession = (): boolean => here().inside;

/** The session that can be named to the daemon; null where there is none. */
export const sessionHere = (): SessionHere | null => here().session;

/** Tags with a meaning to the program that reads what is printed here. */
export const reservedHere = (): string[] => reservedTags(sessionHere()?.profile ?? null, profiles);

/** @throws Failure `subagent_without_seat` for a part of a session, unless the command only reads. */
export function requireWhole(reads: boolean): void {
  const { subagent } = here();
  if (subagent === null || reads) return;
  throw new Failure('subagent_without_seat', 'A subagent has no seat of its own, so it may only read.', {
    hint: 'Give what you have to say to the session that started you; it may post it.',
  });
}

/** @throws Failure `daemon_in_sandbox` where a daemon would have to be started in a sandbox, which would keep it in there. */
export function refuseStartInSandbox(): void {
  const { sandbox } = here();
  if (!sandbox) return;
  throw new Failure('daemon_in_sandbox', 'The delivery daemon does not run, and none is started in a sandbox.', {
    hint: sandbox.fix ?? 'In a terminal of its own: service daemon start',
  });
}

/** A server that cannot be reached from a sandbox without a network is no fault of the server. */
export function blockedHere(error: unknown): unknown {
  const { code } = error as { code?: unknown };
  const sandbox = told?.sandbox;
  if (!sandbox || sandbox.network || (code !== 'server_unreachable' && code !== 'server_not_running')) return error;
  return noNetwork(sandbox.fix);
}

/** @param fix what the profile of the program says to do about it */
export const noNetwork = (fix: string | null): Failure =>
  new Failure('sandbox_blocks_network', 'This sandbox has no network, so no server can be reached from it.', {
    hint: fix ?? 'Let service run outside the sandbox',
  });

/** @param line the command as its person would type it. @throws Failure `human_command_in_session` inside a session. */
export function requireOutside(line: string): void {
  if (!inSession()) return;
  throw new Failure('human_command_in_session', 'Only a person may do this, and an agent’s program runs it here.', {
    hint: `Ask your person to run: ${line}`,
  });
}

/** In a session of its program, or because its seat is selected. */
export function forAgent({ as }: { as?: string | undefined }): boolean {
  const { env } = runtime();
  if (as || inSession() || env.SERVICE_AGENT) return true;
  return environmentToken(env)?.startsWith('aba_') === true;
}

export interface Given {
  flags: Record<string, unknown>;
  args: Record<string, unknown>;
}

/** Whether a call only reads: always, never, or by its flags and arguments. A subagent may run no other call. */
export type ReadOnly = boolean | ((given: Given) => boolean);

/** Only reads if none of these flags and arguments is given. */
export const without =
  (...names: string[]): ReadOnly =>
  ({ flags, args }) =>
    names.every((name) => !flags[name] && !args[name]);
