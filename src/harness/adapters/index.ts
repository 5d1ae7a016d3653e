/** The daemon's adapters to agent programs: one per profile. */
import type { Adapter, Adapters, Limits } from '../../daemon/adapter.ts';
import type { SessionView } from '../../daemon/refs.ts';
import type { Env } from '../../local/folders.ts';
import { builtinProfile } from '../builtin.ts';
import type { Profile } from '../profile.ts';
import { fillPlaceholders, findProgram } from '../programs.ts';
import { giveToQueue } from './queue.ts';
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

function adapterOf(profile: Profile, { env, recorded }: AdapterOptions): Adapter {
  const { harness, delivery, lifecycle, limits, reserved_tags, config_dir: setting } = profile;
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
    reservedTags: reserved_tags ?? [],

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
