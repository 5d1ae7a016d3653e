import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalJson } from '../../src/contract/canonical.ts';
import { anyCharacter } from '../support/any-character.ts';

/** What the record can hold, with keys and texts of any kind. */
const wellFormed = fc.string({ unit: anyCharacter });
const recordable = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger(),
    wellFormed,
    fc.array(tie('value')),
    fc.dictionary(wellFormed, tie('value')),
  ),
})).value;

describe('canonical JSON', () => {
  it('sorts keys by UTF-16 code units at every level and keeps the order of arrays', () => {
    // The sorting example of RFC 8785, section 3.2.3, with whole numbers.
    const value = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude02': 5, '\u0080': 6, '\u00f6': 7 };
    expect(canonicalJson(value)).to.equal(
      '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude02":5,"\ufb33":3}',
    );
    expect(canonicalJson({ b: [{ z: 1, a: 2 }, 'x'], a: {} })).to.equal('{"a":{},"b":[{"a":2,"z":1},"x"]}');
    expect(canonicalJson({ 10: 1, 9: 2 })).to.equal('{"10":1,"9":2}');
  });

  it('escapes only what RFC 8785 escapes, and leaves U+2028 and everything outside ASCII raw', () => {
    expect(canonicalJson('\u0000\b\t\n\f\r\u001f"\\/\u007f\u2028é👀')).to.equal(
      '"\\u0000\\b\\t\\n\\f\\r\\u001f\\"\\\\/\u007f\u2028é👀"',
    );
  });

  it('writes the borders of whole numbers, and minus zero as zero', () => {
    expect(canonicalJson([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 1e15, -0])).to.equal(
      '[9007199254740991,-9007199254740991,1000000000000000,0]',
    );
  });

  const refused: [string, unknown][] = [
    ['a fraction', { n: 0.5 }],
    ['an unsafe integer', [2 ** 53]],
    ['NaN', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['a lone high surrogate', 'a\ud83d'],
    ['a lone low surrogate', ['\ude02']],
    ['reversed surrogates', '\ude02\ud83d'],
    ['a lone surrogate in a key', { '\ud83d': 1 }],
    ['undefined', undefined],
    ['a key without a value', { a: undefined }],
    ['undefined in a list', [undefined]],
    ['a hole in a list', new Array(1)],
    ['a bigint', 1n],
    ['a function', { f: () => 1 }],
    ['a date', new Date(0)],
    ['a map', new Map()],
  ];
  for (const [name, value] of refused) {
    it(`refuses ${name}`, () => {
      expect(() => canonicalJson(value)).to.throw(Error, 'The record cannot hold');
    });
  }

  it('refuses a value nested without end instead of exhausting the stack', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    expect(() => canonicalJson(deep)).to.throw('levels');
  });

  it('does not quote a refused value', () => {
    expect(() => canonicalJson({ body: 'hidden\ud800' })).to.throw(/^(?!.*hidden).*at body/);
  });

  it('gives any value one text that reads back as the value, however its keys were ordered', () => {
    fc.assert(
      fc.property(recordable, (value) => {
        const text = canonicalJson(value);
        const again: unknown = JSON.parse(text);
        expect(canonicalJson(again)).to.equal(text);
        expect(canonicalJson(reversed(value))).to.equal(text);
      }),
    );
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, inner]) => [key, reversed(inner)]));
}
