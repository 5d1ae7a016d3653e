/** The daemon's adapters to agent programs: one per profile. */
import type { Adapter, Adapters, Limits } from '../../daemon/adapter.ts';
import type { SessionView } from '../../daemon/refs.ts';
import type { Env } from '../../local/folders.ts';
import { builtinProfile, reservedTags } from '../builtin.ts';
import type { Profile } from '../profile.ts';
import { fillPlaceholders, findProgram, type RunOptions, runProgram } from '../programs.ts';
import { readThread } from './thread.ts';

const LIMITS: Limits = { bundle_bytes: 32_768, context_bytes: 9_000 };

interface AdapterOptions {
  profiles: readonly Profile[];
  env: Env;
  /** Where programs were found when they were set up, by name. */
  recorded?: () => Record<string, string>;
}

/** Adapters of all profiles. An unknown harness gets the adapter of the generic runner. */
export function createAdapters(options: AdapterOptions): Adapters {
  const made = new Map(options.profiles.map((profile) => [profile.harness, adapterOf(profile, options)]));
  const any = adapterOf(builtinProfile('command')!, options);
  return { of: (harness) => made.get(harness) ?? any };
}

function adapterOf(profile: Profile, { profiles, env, recorded }: AdapterOptions): Adapter {
  const { harness, delivery, lifecycle, limits, config_dir: setting } = profile;
  const capabilities = new Set(delivery.capabilities);
  const program = (name: string): string | null => findProgram(name, env, recorded?.()[name]);
  /** The environment with the session's configuration folder instead of the daemon's. */
  const environment = ({ config_dir: folder }: SessionView): Env =>
    setting && folder ? { ...env, [setting.env]: folder } : env;
  return {
    harness,
    capabilities,
    wakeEcho: delivery.wake_echo === true,
    marksNotFromUser: delivery.wake_disowned === true,
    liveness: lifecycle.liveness,
    limits: { ...LIMITS, ...limits },
    reservedTags: reservedTags(profile, profiles),

    /** Asks only programs with a queue; a connected hook or extension proves its session by itself. */
    async check(session) {
      if (!capabilities.has('queue')) return 'ok';
      const file = program(profile.command);
      return file ? readThread(file, session.session, environment(session)) : { code: 'harness_unavailable' };
    },

    canHand({ turn, waiting, extension, door }) {
      if (door && turn !== 'busy' && capabilities.has('owner-door')) return 'now';
      if (waiting && capabilities.has('idle-hook')) return 'now';
      if (extension && capabilities.has('extension')) return turn === 'busy' ? 'later' : 'now';
      return capabilities.has('queue') && turn !== 'busy' ? 'now' : 'later';
    },

    async hand(session, text) {
      const [name, ...args] = delivery.queue ?? [];
      const file = name === undefined ? null : program(name);
      if (!file) return { retry: name === undefined ? 'no_queue' : 'program_not_found' };
      const { session: id, cwd = '/', config_dir = '' } = session;
      const words = fillPlaceholders(args, { session: id, bundle: text, dir: cwd, config_dir });
      return giveToQueue([file, ...words], { env: environment(session) });
    },
  };
}

const TIMEOUT_MS = 30_000;
/** Exit code for temporary failures (sysexits.h). */
const EX_TEMPFAIL = 75;

/** Exit code 0 confirms the receipt. A locked or busy program is tried again later, which is not a failed attempt. */
export async function giveToQueue(
  [program, ...args]: string[],
  options: Omit<RunOptions, 'ms'> & { ms?: number },
): ReturnType<Adapter['hand']> {
  const ran = await runProgram(program!, args, { ms: TIMEOUT_MS, ...options });
  if (ran.code === 0) return 'accepted_confirmed';
  if (ran.timedOut) return { retry: 'queue_timeout' };
  const said = ran.stderr || ran.stdout;
  if (ran.code === EX_TEMPFAIL || /\b(locked|busy|in use|try again)\b/i.test(said)) return { later: 'busy' };
  if (/not found|no rollout|no such (thread|session)|unknown thread/i.test(said))
    return { retry: 'harness_target_absent' };
  // The output may contain the bundle's text, so it is not recorded.
  return { retry: ran.code === null ? 'queue_unstartable' : `exit ${ran.code}` };
}
