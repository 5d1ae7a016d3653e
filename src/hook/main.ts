/**
 * The entry that harnesses run: `service hook <harness> <event>`, its own small file, which loads neither the command line
 * nor anything that could reach a network. No error in a hook ever stops the harness.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtinProfile, hookOf } from '../harness/builtin.ts';
import type { Hook, Profile } from '../harness/profile.ts';
import { folders } from '../local/folders.ts';
import { loadPacked, setProgram } from '../local/program.ts';
import { serveDoor } from './door.ts';
import { readInput } from './input.ts';
import { runHook } from './run.ts';
import { reportError } from './say.ts';

/** The share of the harness's timeout after which a hook exits by itself, without output. */
const TIMEOUT_SHARE = 0.8;

/** Runs the hook that the command line names; `entryUrl` is the file the program was started by. */
export async function start(entryUrl: string, words = process.argv.slice(3)): Promise<void> {
  // An error must not exit with a code that a harness treats as an instruction.
  process.on('uncaughtException', exitOnError);
  process.on('unhandledRejection', exitOnError);
  process.stdout.on('error', exitOnError);
  process.stderr.on('error', () => process.exit(0));
  try {
    process.exit(await run(fileURLToPath(entryUrl), words));
  } catch (error) {
    exitOnError(error);
  }
}

function exitOnError(error: unknown): never {
  reportError(error);
  process.exit(0);
}

async function run(program: string, [harness, event, ...more]: string[]): Promise<0 | 2> {
  setProgram({ root: join(program, '..', '..'), fromSources: program.endsWith('dev.js') });
  const claims = event === 'tool' && more.length === 1 && more[0] === 'claims';
  if (!harness || !event || more.length > (claims ? 1 : 0)) throw new Error('used as: service hook <harness> <event>');
  const profile = builtinProfile(harness) ?? (await ownProfile(harness));
  // This is not a session event: our module in the program runs it, without input.
  if (event === 'door' && profile?.delivery.capabilities.includes('owner-door')) return serveDoor(harness, process.env);
  const hook = profile && hookOf(profile, event);
  if (!profile || !hook) throw new Error(`there is no hook ${event} of ${harness}`);
  // A mark waits only for its input, which has its own limit; without it, the command would run as the session's.
  if (hook.op !== 'mark-subagent') exitBeforeTimeout(hook);
  const input = await readInput();
  return runHook({ profile, hook, input, program, env: process.env, claims });
}

/** Loads a custom profile; only for a harness that is not built in. */
async function ownProfile(harness: string): Promise<Profile | null> {
  const { loadProfiles } = await loadPacked<typeof import('../harness/load.ts')>('profiles', 'harness/load');
  const { all } = await loadProfiles(folders().config);
  return all.find((profile) => profile.harness === harness) ?? null;
}

function exitBeforeTimeout({ timeout }: Hook): void {
  setTimeout(() => process.exit(0), timeout * 1000 * TIMEOUT_SHARE).unref();
}
