/** Any character that a text can hold, for texts made by chance. */
import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };

/**
 * Any code point but the surrogates, as the unit of `fc.string`. The library's own, `binary`, is the same, but makes a table of
 * all million of them at its first use, which takes a second.
 */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES.count })
  .map((n) => String.fromCodePoint(n < SURROGATES.first ? n : n + SURROGATES.count), indexOf);

/** What lets texts that are known for trouble, such as `__proto__`, be made of these, and made shorter. */
function indexOf(character: unknown): number {
  const point = typeof character === 'string' ? character.codePointAt(0) : undefined;
  if (point === undefined || character !== String.fromCodePoint(point)) throw new Error('not one character');
  if (point < SURROGATES.first) return point;
  if (point < SURROGATES.first + SURROGATES.count) throw new Error('a surrogate');
  return point - SURROGATES.count;
}
