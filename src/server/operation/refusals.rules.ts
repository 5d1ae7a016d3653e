/** Refusals that operations of several nouns share. */
import { Refusal } from '../../contract/errors.ts';

export const keyConflict = (): Refusal =>
  new Refusal('idempotency_conflict', 'This Idempotency-Key was used for another request.', {
    hint: 'Use a new key for a new request.',
  });

/** A field that cannot be as it is. @param problem goes on after its name. */
export const invalidField = (
  field: string,
  problem: string,
  hint: string,
  more: Record<string, unknown> = {},
): Refusal => new Refusal('invalid_request', `${field}: ${problem}.`, { hint, details: { field, problem, ...more } });

/** Of what could be on any of several boards. */
export const needsBoard = (field: string): Refusal =>
  invalidField(field, 'needs board', 'Names belong to one board: say which with board.');

/** How many there may be of something. */
interface Limit {
  limit: number;
  what: string;
  /** How to make room. */
  hint: string;
  /** Left out: "There are already <limit> <what>." */
  text?: string;
}

/** @throws Refusal `limit_reached` unless one more fits. */
export function requireRoom(count: number, { limit, what, hint, text = `There are already ${limit} ${what}.` }: Limit) {
  if (count >= limit) throw new Refusal('limit_reached', text, { hint, details: { what, limit } });
}
