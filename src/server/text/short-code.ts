/** Codes that people read out and type: six Crockford characters (30 bits), shown as XXX-XXX. */
import { randomInt } from 'node:crypto';
import { CROCKFORD } from '../../contract/ids.ts';

/** A new code as it is shown. */
export function newShortCode(): string {
  const characters = Array.from({ length: 6 }, () => CROCKFORD[randomInt(CROCKFORD.length)]).join('');
  return `${characters.slice(0, 3)}-${characters.slice(3)}`;
}

/** What somebody typed, as it was shown to them; null when it can be no code. Case, hyphens and spaces do not count; O is 0, I and L are 1. */
export function readShortCode(typed: string): string | null {
  const code = typed.toUpperCase().replaceAll(/[-\s]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  return /^[0-9A-HJKMNP-TV-Z]{6}$/.test(code) ? `${code.slice(0, 3)}-${code.slice(3)}` : null;
}
