/** The context of a hook: harness, event, session, and access to the daemon. */
import { join } from 'node:path';
import type { DaemonOptions } from '../daemon/control/client.ts';
import type { Header } from '../daemon/protocol.ts';
import type { Hook, Profile } from '../harness/profile.ts';
import { buildOf } from '../local/build.ts';
import { type Env, folders } from '../local/folders.ts';
import { harnessProcess, type ProcessRef, startedAt } from '../local/process-ref.ts';
import { type HookInput, textOf } from './input.ts';

/** A hook that was started, with its input. */
export interface Started {
  profile: Profile;
  hook: Hook;
  input: HookInput;
  program: string;
  env: Env;
  /** Whether to report other agents that work on the changed files. */
  claims: boolean;
}

export interface Context extends Omit<Started, 'program'> {
  header: Header;
  process: ProcessRef | null;
  daemon: DaemonOptions;
}

const SESSION = /^[A-Za-z0-9._-]{1,200}$/;

/** Null for an input that names no session: the hook then has nothing to do. */
export function contextOf(started: Started): Context | null {
  const { profile, hook, input, env, claims } = started;
  const session = textOf(input.session_id, 201);
  if (!session || !SESSION.test(session)) return null;
  const process = harnessProcess();
  const header: Header = {
    harness: profile.harness,
    session,
    started: startedAt(),
    process: process ?? undefined,
    cwd: textOf(input.cwd, 4_096),
    config_dir: profile.config_dir && textOf(env[profile.config_dir.env], 4_096),
    harness_turn: textOf(input.turn_id, 200),
  };
  return { profile, hook, input, header, process, env, claims, daemon: daemonOptions(started, session) };
}

/** Only the hooks that have time for it replace an older daemon. */
function daemonOptions({ hook, program, env }: Started, session: string): DaemonOptions {
  const replaces = hook.op === 'session-start' || hook.op === 'wait';
  return {
    state: folders(env).state,
    env,
    start:
      env.SERVICE_NO_AUTOSTART === '1'
        ? null
        : { program: [process.execPath, ...process.execArgv, program], client: session },
    replaceBy: replaces ? buildOf(join(program, '..', '..')) : null,
  };
}
