/** Opaque positions that hold only for the list they came from: bound to its other parameters. */
import { Refusal } from '../../contract/errors.ts';
import { sha256 } from './hash.ts';

/** @param bound everything that makes the list what it is. */
export const boundToken = (bound: unknown, position: unknown): string => encodePair([binding(bound), position]);

/** The position in a token; null without one. @throws Refusal `invalid_request` for what no page of this list gave. */
export function readBoundToken(bound: unknown, after: string | undefined): unknown {
  if (after === undefined) return null;
  const pair = decodePair(after);
  if (pair?.[0] !== binding(bound)) throw foreignPosition();
  return pair[1];
}

/** The same where the position is a number. */
export function readBoundNumber(bound: unknown, after: string | undefined): number | null {
  const position = readBoundToken(bound, after);
  if (position !== null && !Number.isSafeInteger(position)) throw foreignPosition();
  return position as number | null;
}

/** @param how to hand a token back. */
export function foreignPosition(how = 'with everything else as it was'): Refusal {
  const problem = 'was not given by a page of this list';
  return new Refusal('invalid_request', `after: ${problem}.`, {
    hint: `Start again without it, then hand back next_after ${how}.`,
    details: { field: 'after', problem },
  });
}

/** base64url of JSON. */
export const encodePair = (pair: readonly [unknown, unknown]): string =>
  Buffer.from(JSON.stringify(pair)).toString('base64url');

/** Null for any other text. */
export function decodePair(token: string): unknown[] | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
    return Array.isArray(value) && value.length === 2 ? value : null;
  } catch {
    return null;
  }
}

const binding = (bound: unknown): string => sha256(JSON.stringify(bound)).slice(0, 16);
