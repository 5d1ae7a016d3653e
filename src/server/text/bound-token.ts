/** Opaque positions that hold only for the list they came from: bound to its other parameters. */
import { Refusal } from '../../contract/errors.ts';
import { sha256 } from './hash.ts';

/** @param bound everything that makes the list what it is. */
export const boundToken = (bound: unknown, ...position: (number | string)[]): string =>
  encodeParts([binding(bound), ...position]);

/**
 * The parts of the position in a token; null without one. @param kinds of the parts, in order.
 * @throws Refusal `invalid_request` for what no page of this list gave.
 */
export function readBoundToken<const Kinds extends readonly Kind[]>(
  bound: unknown,
  after: string | undefined,
  ...kinds: Kinds
): Parts<Kinds> | null {
  if (after === undefined) return null;
  const [from, ...position] = decodeParts(after, ['string', ...kinds]) ?? [];
  if (from !== binding(bound)) throw foreignPosition();
  return position as Parts<Kinds>;
}

/** The same where the position is a number. */
export const readBoundNumber = (
  bound: unknown,
  after: string | undefined,
  kind: 'number' | 'int32' = 'number',
): number | null => readBoundToken(bound, after, kind)?.[0] ?? null;

/** For an `after` that no page of the list gave. */
export function foreignPosition(): Refusal {
  const problem = 'was not given by a page of this list';
  return new Refusal('invalid_request', `after: ${problem}.`, {
    hint: 'Start again without it, then hand back next_after with everything else as it was.',
    details: { field: 'after', problem },
  });
}

/** An `int32` is compared with a column that holds no larger number. */
type Kind = 'number' | 'int32' | 'string';
type Parts<Kinds extends readonly Kind[]> = { [At in keyof Kinds]: Kinds[At] extends 'string' ? string : number };

/** base64url of JSON. */
export const encodeParts = (parts: readonly (number | string)[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url');

/** Null for any other text, and for what no database takes as a whole number or as text. */
export function decodeParts<const Kinds extends readonly Kind[]>(token: string, kinds: Kinds): Parts<Kinds> | null {
  try {
    const parts: unknown = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
    const fits =
      Array.isArray(parts) && parts.length === kinds.length && kinds.every((kind, n) => isOf(kind, parts[n]));
    return fits ? (parts as Parts<Kinds>) : null;
  } catch {
    return null;
  }
}

function isOf(kind: Kind, part: unknown): boolean {
  if (kind === 'string') return typeof part === 'string' && /^[^\0\p{Cs}]*$/u.test(part);
  return kind === 'number' ? Number.isSafeInteger(part) : part === Number(part) >> 0;
}

const binding = (bound: unknown): string => sha256(JSON.stringify(bound)).slice(0, 16);
