/** The roles of a board, where one is named. */
import { Refusal } from '../../contract/errors.ts';

/** At most this many roles are listed in a refusal. */
const CHOICES = 50;

/**
 * The refusal of a role that a board does not have; it names those that it has.
 * @param more how it was named where that is not by its name alone, and the status where it is looked for by it.
 */
export function noSuchRole(
  role: string,
  roles: Readonly<Record<string, unknown>>,
  more: { target?: string; status?: 404 } = {},
): Refusal {
  const { target = role, ...status } = more;
  const choices = Object.keys(roles).slice(0, CHOICES);
  return new Refusal('role_not_found', `The board has no role ${role}.`, {
    ...status,
    hint: `Its roles: ${choices.join(', ')}.`,
    details: { target, choices },
  });
}
