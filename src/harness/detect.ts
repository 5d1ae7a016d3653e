/** Detects, from the environment alone, in which session of which program a command runs. */
import type { Env } from '../local/folders.ts';
import { builtinProfiles } from './builtin.ts';
import type { Profile } from './profile.ts';

/** A session that the daemon can know. */
export interface SessionHere {
  profile: Profile;
  /** `<harness>:<session id>`. */
  key: string;
  session: string;
  /** The session id that a hook put into the environment of commands. */
  boot: string | null;
}

export interface DetectedSession {
  /** Null outside of a session, or if only markers of a program without a session id are set. */
  session: SessionHere | null;
  /** Whether an agent's program runs the command, known or not. Such a command does not act as a person. */
  inside: boolean;
  /** The subagent that runs it; subagents are read-only. */
  subagent: string | null;
  /** The program keeps its commands in a sandbox, perhaps without a network. */
  sandbox: { network: boolean; fix: string | null } | null;
}

const KEY = /^([a-z0-9][a-z0-9-]{0,39}):([A-Za-z0-9._-]{1,200})$/;
const ID = /^[A-Za-z0-9._-]{1,200}$/;
const BOOT = /^(boot_)?[0-9a-f]{16}$/;

/** Checks the profiles in order. A profile that yields to variables that are set is skipped. */
export function detectSession(env: Env, profiles: readonly Profile[] = builtinProfiles): DetectedSession {
  const ordered = profiles.toSorted((a, b) => (b.identity.precedence ?? 0) - (a.identity.precedence ?? 0));
  const asked = ordered.filter(({ identity }) => !identity.yields_to?.some((name) => env[name]));
  const session = asked.map((profile) => sessionOf(profile, env)).find((found) => found !== null) ?? null;
  const marked = profiles.find(({ session_env }) => session_env.some((name) => env[name]));
  return {
    session,
    inside: session !== null || marked !== undefined || Boolean(env.SERVICE_SESSION),
    subagent: env.SERVICE_SUBAGENT || subThread(session, env),
    sandbox: sandboxOf(session?.profile ?? marked, env),
  };
}

function sessionOf(profile: Profile, env: Env): SessionHere | null {
  const { kind, env: variable, root_env: rootVariable } = profile.identity;
  if (kind === 'none') return null;
  if (kind === 'env') {
    // A subagent has its own id; the session is the one it belongs to.
    const id = (rootVariable && env[rootVariable]) || env[variable!];
    if (!env[variable!] || !id || !ID.test(id)) return null;
    return { profile, key: `${profile.harness}:${id}`, session: id, boot: null };
  }
  const [key, harness, id] = KEY.exec(env.SERVICE_SESSION ?? '') ?? [];
  if (!key || harness !== profile.harness) return null;
  const boot = BOOT.test(env.SERVICE_BOOT ?? '') ? env.SERVICE_BOOT! : null;
  return { profile, key, session: id!, boot };
}

function subThread(session: SessionHere | null, env: Env): string | null {
  const { env: variable, root_env: rootVariable } = session?.profile.identity ?? {};
  const [own, root] = [variable && env[variable], rootVariable && env[rootVariable]];
  return own && root && own !== root ? own : null;
}

function sandboxOf(profile: Profile | undefined, env: Env): DetectedSession['sandbox'] {
  if (!profile?.sandbox_env?.some((name) => env[name])) return null;
  const network = !profile.sandbox_network_env?.some((name) => env[name]);
  return { network, fix: profile.sandbox_fix ?? null };
}
