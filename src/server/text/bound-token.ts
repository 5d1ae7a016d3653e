/** Opaque positions that hold only for the list they came from: bound to its other parameters. */
import { Refusal } from '../../contract/errors.ts';
import { sha256 } from './hash.ts';

/** @param bound everything that makes the list what it is. */
export const boundToken = (bound: unknown, position: unknown): string =>
  Buffer.from(JSON.stringify([binding(bound), position])).toString('base64url');

/** The position in a token; null without one. @throws Refusal `invalid_request` for what no page of this list gave. */
export function readBoundToken(bound: unknown, after: string | undefined): unknown {
  if (after === undefined) return null;
  try {
    const value: unknown = JSON.parse(Buffer.from(after, 'base64url').toString('utf8'));
    if (Array.isArray(value) && value.length === 2 && value[0] === binding(bound)) return value[1];
  } catch {
    // Refused below.
  }
  throw foreignPosition();
}

export function foreignPosition(): Refusal {
  const problem = 'was not given by a page of this list';
  return new Refusal('invalid_request', `after: ${problem}.`, {
    hint: 'Start again without it, then hand back next_after with everything else as it was.',
    details: { field: 'after', problem },
  });
}

const binding = (bound: unknown): string => sha256(JSON.stringify(bound)).slice(0, 16);
