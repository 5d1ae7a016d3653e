/** Checks of a profile beyond its schema: every declared capability needs the settings that it depends on. */
import { readAs } from '../contract/openapi/problems.ts';
import type { Capability } from '../daemon/adapter.ts';
import { type Profile, profileSchema } from './profile.ts';

/** Parses a profile: the profile, or its problems in words for its author. */
export function readProfile(value: unknown): { profile: Profile } | { problems: string[] } {
  const read = readAs(profileSchema, value);
  if ('problems' in read)
    return { problems: read.problems.map(({ field, problem }) => `${field || 'profile'}: ${problem}`) };
  const problems = profileProblems(read.data);
  return problems.length > 0 ? { problems } : { profile: read.data };
}

/** The problems of a profile by itself. */
export function profileProblems(profile: Profile): string[] {
  return [...missingSettings(profile), ...versionProblems(profile), ...identityProblems(profile)];
}

function missingSettings({ delivery, identity }: Profile): string[] {
  const { capabilities, hooks = [], queue } = delivery;
  const ops = new Set(hooks.map((hook) => hook.op));
  const extension = capabilities.includes('extension');
  const required: Record<Capability, [boolean, string]> = {
    'idle-hook': [ops.has('wait'), 'a hook with op wait'],
    queue: [queue !== undefined, 'the command line delivery.queue'],
    'turn-end-hook': [ops.has('turn-end'), 'a hook with op turn-end'],
    extension: [['extension', 'runner'].includes(identity.kind), 'identity.kind extension or runner'],
    'turn-start': [ops.has('prompt') || extension, 'a hook with op prompt or an extension'],
    'tool-boundary': [ops.has('tool') || extension, 'a hook with op tool or an extension'],
    'midturn-peer': [capabilities.includes('tool-boundary'), 'tool-boundary'],
    'waiting-signal': [ops.has('needs-person') || extension, 'a hook with op needs-person or an extension'],
    'owner-door': [ops.has('prompt'), 'a hook with op prompt'],
    none: [capabilities.length === 1, 'to stand alone'],
  };
  return capabilities.flatMap((capability) => {
    const [there, need] = required[capability];
    return there ? [] : [`delivery.capabilities: ${capability} needs ${need}`];
  });
}

function versionProblems({ checks, delivery }: Profile): string[] {
  const gated = (delivery.hooks ?? []).some((hook) => hook.since !== undefined || hook.fallback !== undefined);
  return gated && !checks.min_version ? ['checks.min_version: is needed where a hook has since'] : [];
}

function identityProblems({ identity, subagent_identity, delivery, lifecycle }: Profile): string[] {
  const { kind, env, root_env: rootEnv, env_file: envFile } = identity;
  const hooks = delivery.hooks ?? [];
  const problems: string[] = [];
  if (kind === 'env' && !env) problems.push('identity.env: is needed by identity.kind env');
  if (kind === 'hook' && !envFile) problems.push('identity.env_file: is needed by identity.kind hook');
  if (kind === 'hook' && !hooks.some((hook) => hook.op === 'session-start'))
    problems.push('delivery.hooks: identity.kind hook needs a hook with op session-start');
  const marked =
    hooks.some((hook) => hook.op === 'mark-subagent') ||
    delivery.capabilities.includes('extension') ||
    rootEnv !== undefined;
  if (subagent_identity === 'marked' && !marked)
    problems.push('subagent_identity: marked needs a hook with op mark-subagent, an extension or identity.root_env');
  if (lifecycle.liveness === 'connection' && !delivery.capabilities.includes('extension'))
    problems.push('lifecycle.liveness: connection needs an extension');
  return problems;
}

/** The conflicts of a profile with existing ones: its name, or environment markers that cannot be told apart. */
export function conflicts(profile: Profile, others: readonly Profile[]): string[] {
  return others.flatMap((other) => {
    if (other.harness === profile.harness) return [`harness: ${other.harness} is there already`];
    const shared = markers(profile).filter((marker) => markers(other).includes(marker));
    if (shared.length === 0 || areDistinguishable(profile, other)) return [];
    return [`session_env: ${shared.join(', ')} also marks ${other.harness}; give identity.precedence or yields_to`];
  });
}

const markers = ({ session_env, identity }: Profile): string[] => [
  ...new Set([...session_env, ...(identity.env ? [identity.env] : [])]),
];

function areDistinguishable(a: Profile, b: Profile): boolean {
  if (a.identity.precedence !== undefined && b.identity.precedence !== undefined)
    return a.identity.precedence !== b.identity.precedence;
  const yields = (from: Profile, to: Profile) =>
    (from.identity.yields_to ?? []).some((name) => markers(to).includes(name) && !markers(from).includes(name));
  return yields(a, b) || yields(b, a);
}
