/** Words that this project does not use: coined names, and riddles where plain English says the same. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Coined names, with the field's own word for each. */
const names: [RegExp, string][] = [
  [/\b\w*Wish(es)?\b/, 'options'],
  [/\bMeans\b/, 'deps or context'],
  [/\b[fF]aces?\b/, 'agentStatus'],
  [/\bArrived\b/, 'result'],
  [/\bRising\b/, 'start or restart'],
  [/\b[jJ]udgements?\b/, 'decision or result'],
  [/\b[bB]eginnings\b/, 'pendingKeys'],
  [/\b[cC]overage\b/, 'scope'],
];

/** Phrases of texts, comments and the titles of tests. */
const phrases: [RegExp, string][] = [
  [/\bwho(ever|mever)\b/i, 'the caller, the owner, anyone who …'],
  [/(?<!\bthere )\b(is|are|was) none\b(?! (of|but))/i, 'is not a …'],
  [/\bnearest to\b/i, 'most similar to'],
];

interface Line {
  file: string;
  number: number;
  code: string;
  /** The same with its texts. */
  text: string;
  comment: string;
  title: string;
}

/** The lines of a file, each with its code, without the texts in it, and its comment apart. */
function linesOf(file: string): Line[] {
  return readFileSync(join(root, file), 'utf8')
    .split('\n')
    .map((line, index) => {
      const [, before = '', comment = ''] = /^(.*?)((?:^\s*\/?\*|(?<![:'"`])\/\/ ).*)?$/.exec(line) ?? [];
      const code = before.replaceAll(
        /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|\/(?![/*\s])(?:[^/\\\n]|\\.)+\//g,
        "''",
      );
      const title = /^\s*(?:it|describe)\((['"`].*)/.exec(line)?.[1] ?? '';
      return { file, number: index + 1, code, text: before, comment, title };
    });
}

const files = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.includes('node_modules'))
    .map((name) => `${folder}/${name}`);

const sources = [...files('src'), ...files('tools')].flatMap(linesOf);
const titles = files('test')
  .flatMap(linesOf)
  .filter(({ title }) => title !== '');

/** Expects none of the words in this part of the lines; a failure lists each place, with what to say instead. */
function expectNone(lines: Line[], words: [RegExp, string][], part: 'code' | 'text' | 'comment' | 'title'): void {
  const found = lines.flatMap((line) =>
    words.flatMap(([word, better]) => {
      const match = word.exec(line[part]);
      return match ? `${line.file}:${line.number}: ${match[0]} (say: ${better})` : [];
    }),
  );
  expect(found.join('\n')).to.equal('');
}

describe('the wording', () => {
  it('of names in sources and tools is the field’s own', () => expectNone(sources, names, 'code'));
  it('of comments in sources and tools is plain', () => expectNone(sources, [...names, ...phrases], 'comment'));
  it('of texts that people read is plain', () => expectNone(sources, phrases, 'text'));
  it('of the titles of tests is plain', () => expectNone(titles, phrases, 'title'));
});
