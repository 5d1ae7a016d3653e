/** Titles, charters and roles as people write them, and as they are kept. */
import { Refusal } from '../../contract/errors.ts';
import { titleProblem } from '../../contract/one-line.ts';
import type { Role } from '../../contract/types.ts';
import { usualRole } from '../../contract/values.ts';
import { redact } from '../text/redaction.ts';

/** A request with the secrets in its title and charter removed. */
export const cleanTexts = <Texts extends { title?: string; charter?: string }>(request: Texts): Texts => ({
  ...request,
  ...(request.title === undefined ? {} : { title: redact(request.title).text }),
  ...(request.charter === undefined ? {} : { charter: redact(request.charter).text }),
});

/** Roles with the secrets in their charters and task types removed. */
export const cleanRoles = (roles: Readonly<Record<string, Role>>): Record<string, Role> =>
  Object.fromEntries(
    Object.entries(roles).map(([name, role]) => [
      name,
      {
        ...role,
        ...(role.charter === undefined ? {} : { charter: redact(role.charter).text }),
        can: role.can.map((grant) =>
          typeof grant === 'string' ? grant : { claim_tasks: grant.claim_tasks.map((type) => redact(type).text) },
        ),
      },
    ]),
  );

/** @throws Refusal 422 `invalid_request`. */
export function requireOneLine(title: string): void {
  const problem = titleProblem(title);
  if (problem !== null) throw unfit('title', `A title ${problem}.`, 'Leave them out.');
}

const MAX_ROLES = 20;

/** @throws Refusal 422 `invalid_request` for a map of roles that no board can have. */
export function requireRoles(roles: Readonly<Record<string, Role>>): void {
  if (!Object.hasOwn(roles, usualRole)) {
    throw unfit('roles', 'Every board has the role member.', 'Send the whole map, with the role member in it.');
  }
  if (Object.keys(roles).length > MAX_ROLES) {
    throw unfit('roles', `A board has at most ${MAX_ROLES} roles.`, 'Remove roles that no agent holds.');
  }
  for (const [name, { can }] of Object.entries(roles)) {
    const names = can.map((grant) => (typeof grant === 'string' ? grant : 'claim_tasks'));
    if (new Set(names).size < names.length) {
      throw unfit(`roles.${name}`, `The role ${name} has a grant twice.`, 'Give each grant once.');
    }
  }
}

const unfit = (field: string, problem: string, hint: string): Refusal =>
  new Refusal('invalid_request', problem, { status: 422, hint, details: { field, problem } });
