/** New identifiers and secrets. */
import { randomBytes } from 'node:crypto';
import { decodeTime, encodeTime } from 'ulid';
import { CROCKFORD, type IdPrefix, type SecretKind, secretPrefixes } from '../../contract/ids.ts';

const POOL = 8192;
/** Characters of the random part, each of five bits. */
const RANDOM = 16;
let pool = randomBytes(POOL);
let used = 0;

/** 80 bits from a cryptographic source, drawn from a pool because a draw for each id is slow. */
function randomPart(): string {
  if (used + RANDOM > POOL) {
    pool = randomBytes(POOL);
    used = 0;
  }
  let text = '';
  for (const end = used + RANDOM; used < end; used++) text += CROCKFORD[(pool[used] as number) & 31];
  return text;
}

let lastMs = -1;
let lastTime = '';

/** The time part of an id; a post makes three in the same millisecond or the next. */
function timePart(now: number): string {
  if (now !== lastMs) {
    lastTime = encodeTime(now, 10);
    lastMs = now;
  }
  return lastTime;
}

/** 48 bits of time in milliseconds, 80 random bits; 26 characters. */
export const newUlid = (now: number): string => timePart(now) + randomPart();

/** `<prefix>_` and a ULID. */
export const newId = (prefix: IdPrefix, now: number): string => `${prefix}_${newUlid(now)}`;

/** The time in an id. */
export const timeOfId = (id: string): number => decodeTime(id.slice(id.indexOf('_') + 1));

/** A secret of 256 random bits with its prefix, 43 base64url characters. */
export function newSecret(kind: SecretKind): string {
  return secretPrefixes[kind] + randomBytes(32).toString('base64url');
}
