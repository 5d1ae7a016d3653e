import { expect } from 'chai';
import fc from 'fast-check';
import { nameProblem, titleProblem, withoutInvisible } from '../../src/contract/one-line.ts';

const INVISIBLE = 'must have no invisible characters; type it instead of pasting it';
const MIXED = 'must not mix alphabets within a word';

/** Each of these would be shown as nothing, or change how its neighbours are read. */
const hidden = {
  'a zero-width space': 'Pa\u200bm',
  'a zero-width joiner between Latin letters': 'Pa\u200dm',
  'a zero-width non-joiner between Latin letters': 'Pa\u200cm',
  'a word joiner': 'Pa\u2060m',
  'a byte order mark': 'Pa\ufeffm',
  'a soft hyphen': 'Pa\u00adm',
  'a combining grapheme joiner': 'Pa\u034fm',
  'a right-to-left override': 'Pa\u202em',
  'a right-to-left isolate': 'Pa\u2067m',
  'a left-to-right mark': 'Pam\u200e',
  'an Arabic letter mark': 'Pa\u061cm',
  'a Hangul filler': '\u3164',
  'a tag': 'Pam\u{e0041}',
  'a flag with tags': '\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}',
  'a variation selector after a letter': 'Pam\ufe0f',
  'a variation selector after a digit': 'Room 1\ufe0f',
  'a further variation selector': '❤\ufe0f\ufe0f',
  'one of the many variation selectors': '❤\u{e0101}',
  'a joiner at the end of an emoji': '👩\u200d',
  'a joiner before a letter': '👩\u200dx',
  'two joiners in an emoji': '👩\u200d\u200d👧',
  'two non-joiners in a word': 'می\u200c\u200cخواهم',
  'a non-joiner at the end of a word': 'می\u200c',
  'the mark of an annotation': 'a\ufff9b',
};

const fine = [
  ...['Pam Poovey', 'Amélie O’Neill-Müller', 'Łukasz', 'Nguyễn Thị Minh Khai', 'São Tomé', 'R2-D2', 'x_y.z', '', '…'],
  ...['Анна Каренина', 'Ελευθερία', 'Հայկ', 'გიორგი', 'שָׁלוֹם', 'محمد', 'สมชาย', 'አበበ', 'ᏣᎳᎩ', 'நன்றி', 'ꦗꦮ'],
  ...['山田太郎', '山田タロウ', 'ひらがなとカタカナ', 'スーパー', 'Tシャツ屋', '김철수', 'A팀', '陳小明', 'ㄅㄆ注音A'],
  ...['می\u200cخواهم', 'क्\u200dष', 'ක්\u200dෂ', 'র\u200d্য'],
  ...[
    '🎉',
    '👩\u200d👩\u200d👧',
    '❤\ufe0f',
    '❤\ufe0f\u200d🔥',
    '🕵🏽\u200d♂\ufe0f',
    '🏳\ufe0f\u200d🌈',
    '1\ufe0f\u20e3',
    '🇩🇪',
    '↔\ufe0e',
    '👍🏿',
  ],
  ...['Анна (Anna)', 'Anna/Анна', 'µs', '𝛥t', 'Ⅻ'],
];

describe('a title', () => {
  it('has no characters that are not seen', () => {
    for (const [what, text] of Object.entries(hidden)) expect(titleProblem(text), what).to.equal(INVISIBLE);
  });

  it('has any writing and any emoji, also with the joiners that they need', () => {
    for (const text of fine) expect(titleProblem(text), text).to.equal(null);
  });

  it('mixes alphabets where science does', () => {
    for (const text of ['Δt', 'π-day', 'µs', 'χ²-test', 'β-блокаторы', 'Fix the Kоpf']) {
      expect(titleProblem(text), text).to.equal(null);
    }
  });

  it('is one line', () => {
    for (const text of ['a\nb', 'a\tb', 'a\u2028b', 'a\u0007', 'a\u0085b']) {
      expect(titleProblem(text)).to.equal('must be one line without control characters');
    }
  });
});

describe('a name', () => {
  it('has no characters that are not seen', () => {
    for (const [what, text] of Object.entries(hidden)) expect(nameProblem(text), what).to.equal(INVISIBLE);
  });

  it('has no blanks that only look like nothing', () => {
    for (const text of ['\u2800', 'Pam\u2800', 'P\u{1d159}am']) expect(nameProblem(text), text).to.equal(INVISIBLE);
  });

  it('has any writing that does not mix alphabets', () => {
    for (const text of fine) expect(nameProblem(text), text).to.equal(null);
  });

  it('mixes no letters of alphabets whose letters look alike in one word', () => {
    for (const text of [
      ...[
        'P\u0430m',
        '\u0420am',
        'Pam P\u043eovey',
        'Al\u03bfn',
        '\u0391lon',
        'R2-\u04142',
        'O’\u0412rien',
        'J.\u0418ванов',
      ],
      ...['\u13aann\u13aa', 'P\u13aam', '\u2c81b', 'Анна\u03bf', 'かнa', '한か', '\u0585lшn', '\ua4d0am'],
    ]) {
      expect(nameProblem(text), text).to.equal(MIXED);
    }
  });
});

describe('a text without its invisible characters', () => {
  it('can be a title, and keeps what a title may have', () => {
    for (const text of fine) expect(withoutInvisible(text)).to.equal(text);
    for (const text of Object.values(hidden)) expect(titleProblem(withoutInvisible(text)), text).to.equal(null);
    const parts = fc.constantFrom(...Object.values(hidden), ...fine, '\u200d', '\u200c', '\ufe0f', '👩', 'م');
    fc.assert(
      fc.property(fc.array(parts), (all) => {
        const text = withoutInvisible(all.join(''));
        expect(withoutInvisible(text)).to.equal(text);
        expect(titleProblem(text)).to.equal(null);
      }),
    );
  });
});
