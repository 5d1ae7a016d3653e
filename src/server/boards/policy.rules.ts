/** Overrides, and what policy and role let an agent do. */
import { canonicalJson } from '../../contract/canonical.ts';
import { Refusal } from '../../contract/errors.ts';
import { presets, type StoredPolicy, wholeChange } from '../../contract/policy.ts';
import type { Permission, Policy, PolicyChange, PolicyKey, Role } from '../../contract/types.ts';
import { invalidField } from '../operation/refusals.rules.ts';

const keys = Object.keys(presets.starter).filter((key) => key !== 'preset') as PolicyKey[];

/** The policy as it is shown: with the keys that differ from its preset. */
export function withOverrides(policy: StoredPolicy): Policy {
  const preset = presets[policy.preset];
  return { ...policy, overrides: keys.filter((key) => canonicalJson(policy[key]) !== canonicalJson(preset[key])) };
}

/** @throws Refusal `invalid_request`. */
export function changedPolicy(policy: StoredPolicy, change: PolicyChange): StoredPolicy {
  const { agent_run: limits } = change;
  if (typeof limits === 'object' && limits.notice >= limits.hold)
    throw invalidField('policy.agent_run', 'notice must be less than hold', 'Such as {"notice": 12, "hold": 30}.');
  return { ...policy, ...wholeChange(change) };
}

/** A grant limited to some types of tasks counts as the whole one. */
export function mayDo(role: Role | undefined, permission: Permission): boolean {
  return role?.can.some((grant) => grant === permission || (typeof grant === 'object' && permission in grant)) ?? false;
}

/** Whether join codes of this member let anybody in: those of people do, those of agents by a grant of their role. */
export const mayMakeCodes = (
  roles: { [name: string]: Role },
  { kind, role }: { kind: string; role: string | null },
): boolean => kind === 'human' || mayDo(roles[role ?? ''], 'invite');

/** The roles whose agents' join codes let somebody in. */
export const rolesMakingCodes = (roles: { [name: string]: Role }): string[] =>
  Object.keys(roles).filter((role) => mayMakeCodes(roles, { kind: 'agent', role }));

/** @throws Refusal `forbidden`, naming the permission an agent's role lacks. */
export function requirePermission(role: Role | undefined, permission: Permission): void {
  if (mayDo(role, permission)) return;
  throw new Refusal('forbidden', `This agent's role may not ${permission.replace('_', ' ')}.`, {
    hint: "A board owner can change the role's grants.",
    details: { permission },
  });
}

/** What an agent needs besides `post`. @throws Refusal `broadcast_not_allowed`, `urgent_not_allowed`. */
export function requirePostingRights(
  policy: StoredPolicy,
  role: Role | undefined,
  message: { everyone: boolean; urgent: boolean },
): void {
  if (message.everyone && policy.broadcast === 'granted' && !mayDo(role, 'broadcast')) {
    throw new Refusal('broadcast_not_allowed', "This agent's role may not post to everyone on this board.", {
      hint: 'Address a role or a person instead: --to role:ROLE or --to @NAME.',
    });
  }
  if (message.urgent && policy.urgent === 'granted' && !mayDo(role, 'urgent')) {
    throw new Refusal('urgent_not_allowed', "This agent's role may not send urgent messages on this board.", {
      hint: 'Post it without urgent, or ask a board owner for the grant.',
    });
  }
}
