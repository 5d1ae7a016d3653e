/**
 * Canonical JSON (RFC 8785, "JCS"): one text per value, so that a hash of the text is a hash of the value.
 * Runs on the server, in the command line and in the page.
 */
import packaged from 'canonicalize';

/** The package's types announce an ES module's default export, but it is CommonJS: the function is the module. */
const serialize = packaged as unknown as (value: unknown) => string;

/** Deeper values are refused, so that a hostile one ends in a plain error and not in an exhausted stack. */
const MAX_DEPTH = 256;

function refuse(what: string, where: string): never {
  throw new Error(`The record cannot hold ${what}${where === '' ? '' : ` (at ${where})`}.`);
}

function checkText(value: string, where: string): void {
  if (!value.isWellFormed()) refuse('an unpaired surrogate', where);
}

/**
 * Refuses what the record cannot hold; answers whether every object's keys stand in canonical order already.
 * `where` is the innermost key only: it is for a developer, and a whole path would cost every post.
 */
function check(value: unknown, where: string, depth: number): boolean {
  switch (typeof value) {
    case 'string':
      checkText(value, where);
      return true;
    case 'boolean':
      return true;
    case 'number':
      if (!Number.isSafeInteger(value)) refuse('a number that is not a whole one within 2^53 - 1', where);
      return true;
    case 'object':
      break;
    default:
      refuse(`a value of type ${typeof value}`, where);
  }
  if (value === null) return true;
  if (depth >= MAX_DEPTH) refuse(`more than ${MAX_DEPTH} levels`, where);
  return Array.isArray(value) ? checkList(value, where, depth) : checkObject(value as object, depth);
}

function checkList(list: unknown[], where: string, depth: number): boolean {
  let ordered = true;
  for (let index = 0; index < list.length; index++) ordered = check(list[index], where, depth + 1) && ordered;
  return ordered;
}

function checkObject(object: object, depth: number): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) refuse('anything but plain objects', '');
  // JSON.stringify would call a member of this name as a method, but here it is data.
  let ordered = !('toJSON' in object);
  let last: string | null = null;
  for (const key of Object.keys(object)) {
    checkText(key, key);
    // The order of RFC 8785 is that of UTF-16 code units, which is how this language compares strings.
    if (last !== null && last > key) ordered = false;
    last = key;
    ordered = check((object as Record<string, unknown>)[key], key, depth + 1) && ordered;
  }
  return ordered;
}

/**
 * The canonical text of a value as RFC 8785 writes it: keys sorted by UTF-16 code units, no white space, ECMAScript's
 * own form of strings. Narrower than the RFC, because the record holds only what every JSON reader reads alike.
 *
 * @throws Error for fractions, integers beyond 2^53 - 1, unpaired surrogates, `undefined`, functions, objects of a
 *   class, and more than 256 levels. Its message names the key, never the value.
 */
export function canonicalJson(value: unknown): string {
  // With ordered keys the language's own serialisation is the canonical one, at a fraction of the cost.
  return check(value, '', 0) ? JSON.stringify(value) : serialize(value);
}
