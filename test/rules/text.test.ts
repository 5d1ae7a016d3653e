import { expect } from 'chai';
import fc from 'fast-check';
import { escapeUntrusted } from '../../src/contract/text.ts';
import { anyCharacter } from '../support/any-character.ts';

/** The rule in numbers, apart from the pattern that implements it. */
function acts(code: number): boolean {
  if (code < 0x20) return code !== 0x0a && code !== 0x09;
  return (
    (code >= 0x7f && code <= 0x9f) ||
    (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2066 && code <= 0x2069) ||
    (code >= 0xe0000 && code <= 0xe007f)
  );
}

describe('untrusted text', () => {
  it('shows control characters as escapes', () => {
    expect(escapeUntrusted('\x1b[31mred\x07')).to.equal('\\x1b[31mred\\x07');
    expect(escapeUntrusted('\x1b]52;c;aGk=\x1b\\')).to.equal('\\x1b]52;c;aGk=\\x1b\\');
    expect(escapeUntrusted('a\x00b\x7fc\x9b31m')).to.equal('a\\x00b\\x7fc\\x9b31m');
    expect(escapeUntrusted('a\u202eb\u2066c')).to.equal('a\\u202eb\\u2066c');
    expect(escapeUntrusted('a\u{e0041}b')).to.equal('a\\u{e0041}b');
  });

  it('keeps line ends as LF, and shows a carriage return that stands alone', () => {
    expect(escapeUntrusted('a\r\nb\nc\td')).to.equal('a\nb\nc\td');
    expect(escapeUntrusted('a\rb\r\r\n')).to.equal('a\\x0db\\x0d\n');
  });

  it('leaves everything else as it is', () => {
    const text = 'Grüße, 日本語, 👩‍👩‍👧, ❤️, \u200f\u200b\u2028 "\\n" <b>';
    expect(escapeUntrusted(text)).to.equal(text);
  });

  it('treats each single code point of Unicode by the rule', () => {
    for (let code = 0; code <= 0x10ffff; code++) {
      const character = String.fromCodePoint(code);
      if ((escapeUntrusted(character) === character) === acts(code)) expect.fail(`U+${code.toString(16)}`);
    }
  });

  it('lets no acting code point through, and changes nothing on the second time', () => {
    const character = fc.oneof(
      fc.constantFrom('\r', '\n', '\x1b', '\x9b', '\u202e', '\u2069', '\u{e0001}', '\\', '\ud83d', '\udc00', '\udb40'),
      fc.string({ unit: anyCharacter, maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(character), (parts) => {
        const escaped = escapeUntrusted(parts.join(''));
        expect([...escaped].filter((point) => acts(point.codePointAt(0) as number))).to.deep.equal([]);
        expect(escapeUntrusted(escaped)).to.equal(escaped);
      }),
    );
  });
});
