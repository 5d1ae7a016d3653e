/** Globs of lines: what they match, compared with picomatch, and whether two can mean a same file. */
import { createRequire } from 'node:module';
import { expect } from 'chai';
import fc from 'fast-check';
import { covers, globProblem, overlap, STEPS } from '../../src/contract/globs.ts';
import { repoName, withoutCredentials } from '../../src/contract/repo-name.ts';

interface Picomatch {
  isMatch(path: string, glob: string, options: { dot: boolean }): boolean;
}

const picomatch = createRequire(import.meta.url)('picomatch') as Picomatch;

const pieces = [
  ...['a', 'b', 'c', '.', '-', '1', ',', '+', '@', '!', '/', 'a/b', '*', '**', '?', '/**', '**/', '\\*'],
  ...['[ab]', '[!a]', '[^a]', '[a-c]', '[id]', '{a,b}', '{a,b/c}', '{1..3}', '{a}'],
  ...['(g)', '(a|b)', '@(a|b)', '!(a)', '*(a)', '+(b|c)', '?(a)'],
];
const letters = ['a', 'b', 'c', '.', '-', '1', '3', 'ab', ',', '+', '*', '/', '[id]', '{a}', '(g)'];
const of = (parts: string[], maxLength: number) =>
  fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength }).map((chosen) => chosen.join(''));
const path = of(letters, 6).filter((text) => !/^\/|\/\/|\/$|(^|\/)\.\.?(\/|$)/.test(text));
const glob = of(pieces, 7).filter((text) => globProblem(text) === null);
const FIXED = { seed: 20_261_123 };

describe('globs of lines', () => {
  it('match whatever picomatch matches by them', () => {
    let matched = 0;
    const check = (pattern: string, text: string) => {
      if (!picomatch.isMatch(text, pattern, { dot: true })) return;
      matched++;
      expect(covers([pattern], text), `${pattern} on ${text}`).to.equal(true);
    };
    fc.assert(fc.property(glob, path, check), { ...FIXED, numRuns: 40_000 });
    expect(matched).to.be.greaterThan(500);
  });

  it('overlap wherever both match a path: never a no that is wrong', () => {
    let met = 0;
    const check = (one: string, other: string, text: string) => {
      if (![one, other].every((pattern) => picomatch.isMatch(text, pattern, { dot: true }))) return;
      met++;
      expect(overlap([one], [other]), `${one} and ${other} on ${text}`).to.equal(true);
      expect(overlap([other], [one])).to.equal(true);
    };
    const short = of(pieces, 3).filter((text) => globProblem(text) === null);
    fc.assert(fc.property(short, short, path, check), { ...FIXED, numRuns: 60_000 });
    expect(met).to.be.greaterThan(100);
  });

  const pairs: [string, string, boolean][] = [
    ['src/**', 'src/http.ts', true],
    ['src/**', 'src', true],
    ['src/', 'src/a/b.ts', true],
    ['./src/a.ts', 'src/a.ts', true],
    ['src/**', 'src2/a.ts', false],
    ['src/*.ts', 'src/*.js', false],
    ['src/*.ts', 'src/a/b.ts', false],
    ['*.ts', 'src/*.ts', false],
    ['**/*.md', 'docs/**', true],
    ['**/*.md', 'docs/*.txt', false],
    ['{a,b}/x', 'b/*', true],
    ['{a,b}/x', 'c/*', false],
    ['a*b', '*c', false],
    ['a*', '*b', true],
    ['src/retry/**', 'src/http.ts', false],
    ['src/**/a.ts', 'src/b/**', true],
    ['app/[id]/page.tsx', 'app/[id]/page.tsx', true],
    ['app/[id]/page.tsx', 'app/i/*', true],
    ['app/(group)/page.tsx', 'app/**', true],
    ['[a-c]x', '[d-f]x', true],
    ['[a-c]x', 'dx', false],
    ['@(a|b).ts', '{b,c}.ts', true],
    ['.github/**', '**', true],
  ];
  for (const [one, other, can] of pairs)
    it(`${one} and ${other} ${can ? 'can' : 'cannot'} mean a same file`, () => {
      expect([overlap([one], [other]), overlap([other], [one])]).to.deep.equal([can, can]);
    });

  it('are compared in bounded time however many there are: a line may meet those of a thousand agents', () => {
    const twenty = (first: string) => Array.from({ length: 20 }, (_, n) => `${first}${n}${'x'.repeat(190)}`);
    const [mine, theirs] = [twenty('[a]'), twenty('[b]')];
    const steps = { left: STEPS };
    const { user } = process.cpuUsage();
    for (let agent = 0; agent < 1_000; agent++) for (const glob of theirs) overlap(mine, [glob], steps);
    expect((process.cpuUsage().user - user) / 1_000).to.be.lessThan(2_000);
  });

  it('are told apart at once where they begin otherwise, by as many agents', () => {
    const twenty = (folder: string) => Array.from({ length: 20 }, (_, n) => `packages/${folder}/src/part${n}/**/*.ts`);
    const mine = twenty('mine');
    const steps = { left: STEPS };
    const before = process.cpuUsage();
    for (let agent = 0; agent < 1_000; agent++)
      for (const glob of twenty(`of${agent}`)) if (overlap(mine, [glob], steps)) throw new Error(`${glob} is apart`);
    expect(process.cpuUsage(before).user / 1_000, 'milliseconds').to.be.below(400);
  });

  it('cost little, however they are made: 20 against 20', () => {
    const hostile = (letter: string) =>
      Array.from({ length: 20 }, (_, i) => `${`*${letter}?*`.repeat(60).slice(0, 196)}${i}${letter}`);
    const [one, other] = [hostile('a'), hostile('b')];
    expect([...one, ...other].map(globProblem).filter((problem) => problem !== null)).to.deep.equal([]);
    const steps = { left: STEPS };
    const before = process.cpuUsage();
    overlap(one, other, steps);
    const { user } = process.cpuUsage(before);
    expect(user / 1000, 'milliseconds').to.be.below(1_000);
    expect(steps.left).to.be.at.least(-1);
    const deep = `${'{'.repeat(99)}a${'}'.repeat(99)}`;
    expect(globProblem(deep)).to.equal(null);
    expect(overlap([deep], ['a'])).to.equal(true);
  });

  it('say what is wrong with one', () => {
    const bad = ['', 'a'.repeat(201), '/a', '~/a', 'C:\\a', '../a', 'a/..', '{..,b}', '!a', './!a', 'a|b', 'a//b'];
    for (const text of [...bad, '[a', '[]', '{a', '(a', '@(a', 'a\\', '(?:a)', 'a\u0007', 'a\u2028b', '\ud800'])
      expect(globProblem(text), text).to.be.a('string');
    for (const text of ['a', '**', 'a)', 'a}', 'a]', '..a/b', 'a..b', '!(a)', '{1..3}', 'ä/日本.ts', 'a b', "it's"])
      expect(globProblem(text), text).to.equal(null);
  });

  it('have at most 200 characters, each counted once', () => {
    expect(['a', '🦊'].map((each) => globProblem(each.repeat(200)))).to.deep.equal([null, null]);
    expect(globProblem('🦊'.repeat(201))).to.equal('must have 1 to 200 characters');
  });
});

describe('the name of a repository', () => {
  const same = 'github.com/acme/api';
  const names: [string, string | null][] = [
    ['https://github.com/acme/api.git', same],
    ['https://dana:secret@github.com/acme/api/', same],
    ['https://token@GitHub.com:443/acme/api', same],
    ['git@github.com:acme/api.git', same],
    ['ssh://git@github.com:22/acme/api.git', same],
    ['git://github.com/acme/api?token=secret', same],
    ['https://dana:se/cret@github.com/acme/api', same],
    ['dana:secret@github.com:acme/api', same],
    ['token@github.com:acme/api', same],
    ['https://git.example.com:8443/@acme/api', 'git.example.com/@acme/api'],
    [same, null],
    ['/srv/git/api.git', null],
    ['file:///srv/git/api.git', null],
    ['../api', null],
    ['C:/git/api', null],
    ['4b825dc642cb6eb9a060e54bf8d69288fbee4904', null],
  ];
  for (const [url, name] of names)
    it(`${url} is ${name ?? 'none of a server'}`, () => {
      expect(repoName(url)).to.equal(name);
    });

  it('keeps no credentials of an address that is none of a server either', () => {
    for (const [url, left] of [
      ['https://dana:secret@github.com', 'https://github.com'],
      ['dana:se/cret@github.com/acme/api', 'github.com/acme/api'],
      ['//dana:secret@github.com/acme/api', '//github.com/acme/api'],
      ['github.com/@acme/api', 'github.com/@acme/api'],
    ] as const)
      expect([repoName(url), withoutCredentials(url)]).to.deep.equal([null, left]);
  });
});
