import { expect } from 'chai';
import fc from 'fast-check';
import { ftsQuery, hasPhrase, looseQuery, tsqueryText, vectorOf } from '../../src/server/search/dialect.rules.ts';
import {
  matchesIn,
  parseQuery,
  type SearchQuery,
  snippetOf,
  type Term,
  wordsOf,
} from '../../src/server/search/words.rules.ts';
import { anyCharacter } from '../support/any-character.ts';

const folded = (text: string) => wordsOf(text).map((word) => word.folded);

describe('words', () => {
  it('are runs of letters and digits, in lower case and without accents', () => {
    expect(folded('Retry_count=3; Ünïcode — naïve CAFÉ')).to.deep.equal([
      'retry',
      'count',
      '3',
      'unicode',
      'naive',
      'cafe',
    ]);
    expect(folded('日本語 Ελλάδα İstanbul')).to.deep.equal(['日本語', 'ελλαδα', 'istanbul']);
    expect(folded('… -- !!')).to.deep.equal([]);
  });

  it('say where they stand in the text as it is, also with combining marks and surrogates', () => {
    const text = '🎉 Cafe\u0301s 𝒳y';
    const words = wordsOf(text);
    expect(words.map(({ start, end }) => text.slice(start, end))).to.deep.equal(['Cafe\u0301s', '𝒳y']);
  });

  it('are folded alike whatever their length', () => {
    const marks = '\u0323\u0301';
    expect(folded(`e${marks}e`)).to.deep.equal(['ee']);
    expect(folded(`e${marks.repeat(5_000)}é`)).to.deep.equal(['ee']);
    expect(folded('é'.repeat(201))).to.deep.equal(['e'.repeat(200)]);
    expect(folded('\u{2f800}'.repeat(300))).to.deep.equal(['\u4e3d'.repeat(200)]);
    expect(folded(marks.repeat(300))).to.deep.equal([]);
  });

  it('of any text hold letters and digits only, so that a query needs no escaping', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        for (const word of folded(text)) expect(word).to.match(/^[\p{L}\p{N}]{1,200}$/u);
      }),
    );
  });
});

describe('a query', () => {
  it('has terms, phrases, excluded terms and beginnings', () => {
    expect(parseQuery('deploy "broken build" -flaky roll* retry_count -"on hold"')).to.deep.equal({
      wanted: [
        { words: ['deploy'], prefix: false },
        { words: ['broken', 'build'], prefix: false },
        { words: ['roll'], prefix: true },
        { words: ['retry', 'count'], prefix: false },
      ],
      excluded: [
        { words: ['flaky'], prefix: false },
        { words: ['on', 'hold'], prefix: false },
      ],
    });
    expect(parseQuery('"open end').wanted).to.deep.equal([{ words: ['open', 'end'], prefix: false }]);
  });

  it('needs a wanted word, at most 16 terms, and two characters before a star', () => {
    for (const bad of ['', '  ', '-x', '!!!', '""', 'x*', 'a '.repeat(17)]) {
      expect(() => parseQuery(bad), bad)
        .to.throw()
        .with.property('code', 'invalid_request');
    }
    expect(parseQuery('a '.repeat(16)).wanted).to.have.length(16);
  });

  it('takes the form of each engine', () => {
    const query = parseQuery('deploy roll* "a b" -x');
    expect(ftsQuery(query)).to.equal('("deploy" AND "roll" * AND "a b") NOT ("x")');
    expect(tsqueryText(query)).to.equal("('deploy') & ('roll':*) & ('a' <-> 'b') & !('x')");
    expect(vectorOf([['a', 'b', 'a'], ['c']])).to.deep.equal({ words: "'a':1,3 'b':2 'c':6", phrases: null });
  });

  it('keeps all words without positions that fit without them', () => {
    const words = Array.from({ length: 70_000 }, (_, n) => `word-${n}`.padEnd(14, '-'));
    expect(vectorOf([words]).words.split(' ')).to.have.length(70_000);
    const wide = Array.from({ length: 15_000 }, (_, n) => `${n}`.padEnd(66, '-'));
    expect(vectorOf([wide])).to.deep.include({ words: wide.map((word) => `'${word}'`).join(' ') });
    // Of what does not fit either the first words are kept.
    expect(vectorOf([words, wide, ['a']]).words.length).to.be.lessThan(1_048_575 + 3 * 85_000);
  });

  it('has another form where a text is too long for the positions of its words', () => {
    const often = Array.from({ length: 300 }, (_, n) => ['the', `w${n}`]).flat();
    const many = Array.from({ length: 17_000 }, (_, n) => `w${n}`);
    for (const words of [often, many]) {
      const { words: vector, phrases } = vectorOf([words, ['end']]);
      expect(vector).not.to.include(':');
      expect(phrases)
        .to.match(/^ .* \u{E000} end $/u)
        .and.include(' w298 ')
        .and.include(' w299 ');
    }
    expect(looseQuery(parseQuery('deploy roll* "a b" retry_cou* -x -"c d" -e_fo*'))).to.deep.equal({
      tsquery: "'deploy' & 'roll':* & 'a' & 'b' & 'retry' & 'cou':* & !'x'",
      wanted: [' a b ', ' retry cou'],
      excluded: [' c d ', ' e fo'],
    });
    expect(hasPhrase(parseQuery('a -b'))).to.equal(false);
    expect(hasPhrase(parseQuery('a -b_c'))).to.equal(true);
  });
});

describe('a snippet', () => {
  const snip = (text: string, q: string) => snippetOf(text, matchesIn(text, parseQuery(q)).first);

  it('is the line of the first match, with the matches in it', () => {
    const found = snip('first line\nthe Deploy failed, deploy again\nlast', 'deploy');
    expect(found).to.deep.equal({
      snippet: 'the Deploy failed, deploy again',
      matches: [
        [4, 10],
        [19, 25],
      ],
    });
  });

  it('has at most 200 characters around the match, and never half a character', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: anyCharacter, maxLength: 400 }),
        fc.string({ unit: anyCharacter, maxLength: 400 }),
        (a, b) => {
          const found = snip(`${a} needle ${b}`, 'needle');
          expect(found.snippet.length).to.be.at.most(200);
          expect(found.snippet.isWellFormed()).to.equal(
            `${a} needle ${b}`.isWellFormed() || found.snippet.isWellFormed(),
          );
          expect(found.snippet).not.to.match(/[\r\n]/);
          const [from, to] = found.matches[0] ?? [0, 0];
          expect(found.snippet.slice(from, to).toLowerCase()).to.include('needle');
        },
      ),
    );
  });

  it('takes the longest term where several begin', () => {
    expect(matchesIn('broken build', parseQuery('broken "broken build"'))).to.deep.equal({
      count: 1,
      first: [[0, 12]],
    });
  });

  it('is of all matches, which are counted, those that it can show', () => {
    const { count, first } = matchesIn('valve '.repeat(1_000), parseQuery('valve'));
    expect(count).to.equal(1_000);
    expect(first.length).to.be.within(Math.ceil(200 / 6), 40);
    expect(snip('valve '.repeat(1_000), 'valve').matches).to.have.length(34);
  });

  it('has the matches that every word compared with every term would give', () => {
    const word = fc.constantFrom('a', 'b', 'ab', 'A', 'é', 'E\u0301', '\u0301', '\u{1d400}', 'abc', 'e', 'Σ');
    const separator = fc.constantFrom(' ', '\n', '-', '\u{1f600}', '\ud800');
    const text = fc.array(fc.tuple(word, separator), { maxLength: 60 }).map((parts) => parts.flat().join(''));
    const term = fc.oneof(
      word,
      fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => `"${words.join(' ')}"`),
      fc.constantFrom('ab*', 'a-ab*', 'a-b-ab*', 'abc*'),
    );
    const query = fc.array(term, { minLength: 1, maxLength: 4 }).map((terms) => terms.join(' '));
    fc.assert(
      fc.property(text, query, (searched, asked) => {
        fc.pre(folded(asked).length > 0);
        const read = parseQuery(asked);
        const all = naive(searched, read);
        expect(matchesIn(searched, read)).to.deep.equal({ count: all.length, first: shownFirst(all) });
      }),
      { numRuns: 2_000 },
    );
  });
});

/** As it is meant: at each word the longest term that begins there, and on after it. */
function naive(text: string, { wanted }: SearchQuery): [number, number][] {
  const words = wordsOf(text);
  const begins = ({ words: all, prefix }: Term, at: number): boolean =>
    all.every((one, n) => {
      const { folded: word = '' } = words[at + n] ?? {};
      return prefix && n === all.length - 1 ? word.startsWith(one) : word === one;
    });
  const found: [number, number][] = [];
  for (let at = 0; at < words.length; ) {
    const length = Math.max(0, ...wanted.filter((term) => begins(term, at)).map((term) => term.words.length));
    if (length > 0) found.push([words[at]!.start, words[at + length - 1]!.end]);
    at += Math.max(length, 1);
  }
  return found;
}

const shownFirst = (all: [number, number][]) => all.filter(([start]) => start < all[0]![0] + 200);

describe('the words of any text', () => {
  it('are its runs of letters, digits and marks', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const runs = [...text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)].map(({ 0: run, index }) => [index, index + run.length]);
        const marks = (range: number[]) => /^\p{M}+$/u.test(text.slice(range[0], range[1]));
        const found = wordsOf(text).map(({ start, end }) => [start, end]);
        expect(found.filter((one) => !marks(one))).to.deep.equal(runs.filter((one) => !marks(one)));
      }),
      { numRuns: 1_000 },
    );
  });
});
