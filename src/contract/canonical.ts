/**
 * Canonical JSON (RFC 8785, "JCS"): one text per value, so that a hash of the text is a hash of the value.
 * Runs on the server, in the command line and in the page.
 */
import packaged from 'canonicalize';

/** The package's types announce an ES module's default export, but it is CommonJS: the function is the module. */
const serialize = packaged as unknown as (value: unknown) => string;

/** Deeper values are refused, so that a hostile one ends in a plain error and not in an exhausted stack. */
const MAX_DEPTH = 256;

/** With the `u` flag a surrogate matches only where it stands alone. */
const loneSurrogate = /[\ud800-\udfff]/u;

function refuse(what: string, where: string): never {
  throw new Error(`The record cannot hold ${what}${where === '' ? '' : ` (at ${where})`}.`);
}

function checkText(value: string, where: string): void {
  if (loneSurrogate.test(value)) refuse('an unpaired surrogate', where);
}

/** `where` is the innermost key only: it is for a developer, and a whole path would cost every post. */
function check(value: unknown, where: string, depth: number): void {
  switch (typeof value) {
    case 'string':
      checkText(value, where);
      return;
    case 'boolean':
      return;
    case 'number':
      if (!Number.isSafeInteger(value)) refuse('a number that is not a whole one within 2^53 - 1', where);
      return;
    case 'object':
      break;
    default:
      refuse(`a value of type ${typeof value}`, where);
  }
  if (value === null) return;
  if (depth >= MAX_DEPTH) refuse(`more than ${MAX_DEPTH} levels`, where);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) check(value[index], where, depth + 1);
    return;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) refuse('anything but plain objects', where);
  const object = value as Record<string, unknown>;
  for (const key of Object.keys(object)) {
    checkText(key, where);
    check(object[key], key, depth + 1);
  }
}

/**
 * The canonical text of a value as RFC 8785 writes it: keys sorted by UTF-16 code units, no white space, ECMAScript's
 * own form of strings. Narrower than the RFC, because the record holds only what every JSON reader reads alike.
 *
 * @throws Error for fractions, integers beyond 2^53 - 1, unpaired surrogates, `undefined`, functions, objects of a
 *   class, and more than 256 levels. Its message names the key, never the value.
 */
export function canonicalJson(value: unknown): string {
  check(value, '', 0);
  return serialize(value);
}
