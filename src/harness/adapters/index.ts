/** The daemon's adapters to agent programs: one per profile. */
import type { Adapter, Adapters, Capability, CarrierState, Limits, Target } from '../../daemon/adapter.ts';
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
  const made = new Map(options.profiles.map((profile) => [profile.harness, new ProfileAdapter(profile, options)]));
  const any = new ProfileAdapter(builtinProfile('command')!, options);
  return { of: (harness) => made.get(harness) ?? any };
}

class ProfileAdapter implements Adapter {
  readonly harness: string;
  readonly capabilities: ReadonlySet<Capability>;
  readonly wakeEcho: boolean;
  readonly marksNotFromUser: boolean;
  readonly liveness: 'process' | 'connection';
  readonly limits: Limits;
  readonly reservedTags: readonly string[];
  private readonly profile: Profile;
  private readonly options: AdapterOptions;

  constructor(profile: Profile, options: AdapterOptions) {
    this.profile = profile;
    this.options = options;
    this.harness = profile.harness;
    this.capabilities = new Set(profile.delivery.capabilities);
    this.wakeEcho = profile.delivery.wake_echo === true;
    this.marksNotFromUser = profile.delivery.wake_disowned === true;
    this.liveness = profile.lifecycle.liveness;
    this.limits = { ...LIMITS, ...profile.limits };
    this.reservedTags = profile.reserved_tags ?? [];
  }

  /** Asks only programs with a queue; a connected hook or extension proves its session by itself. */
  async check(session: SessionView): Promise<Target> {
    if (!this.capabilities.has('queue')) return 'ok';
    const program = this.program(this.profile.command);
    if (!program) return { code: 'harness_unavailable' };
    return readThread(program, session.session, this.environment(session));
  }

  canHand({ turn, waiting, extension, door }: CarrierState): 'now' | 'later' {
    if (door && turn !== 'busy' && this.capabilities.has('owner-door')) return 'now';
    if (waiting && this.capabilities.has('idle-hook')) return 'now';
    if (extension && this.capabilities.has('extension')) return turn === 'busy' ? 'later' : 'now';
    return this.capabilities.has('queue') && turn !== 'busy' ? 'now' : 'later';
  }

  async hand(session: SessionView, text: string): ReturnType<Adapter['hand']> {
    const [name, ...args] = this.profile.delivery.queue ?? [];
    const program = name === undefined ? null : this.program(name);
    if (!program) return { retry: name === undefined ? 'no_queue' : 'program_not_found' };
    const values = {
      session: session.session,
      bundle: text,
      dir: session.cwd ?? '/',
      config_dir: session.config_dir ?? '',
    };
    return giveToQueue([program, ...fillPlaceholders(args, values)], { env: this.environment(session) });
  }

  private program(name: string): string | null {
    return findProgram(name, this.options.env, this.options.recorded?.()[name]);
  }

  /** The environment with the session's configuration folder instead of the daemon's. */
  private environment({ config_dir: folder }: SessionView): Env {
    const { config_dir: setting } = this.profile;
    return setting && folder ? { ...this.options.env, [setting.env]: folder } : this.options.env;
  }
}
