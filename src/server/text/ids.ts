/** New identifiers and secrets. */
import { randomBytes } from 'node:crypto';
import { ulid } from 'ulid';
import { type IdPrefix, type SecretKind, secretPrefixes } from '../../contract/ids.ts';

const POOL = 4096;
let pool = randomBytes(POOL);
let used = 0;

/** A number in [0, 1) from a cryptographic source, drawn from a pool because one draw per character is slow. */
function random(): number {
  if (used + 4 > POOL) {
    pool = randomBytes(POOL);
    used = 0;
  }
  const value = pool.readUInt32LE(used);
  used += 4;
  return value / 0x1_0000_0000;
}

/** 48 bits of time in milliseconds, 80 random bits; 26 characters. */
export const newUlid = (now: number): string => ulid(now, random);

/** `<prefix>_` and a ULID. */
export const newId = (prefix: IdPrefix, now: number): string => `${prefix}_${newUlid(now)}`;

/** A secret of 256 random bits with its prefix, 43 base64url characters. */
export function newSecret(kind: SecretKind): string {
  return secretPrefixes[kind] + randomBytes(32).toString('base64url');
}
