/**
 * Whoever writes one message must not be able to stop a program that reads it: no text costs much more than plain text
 * of the same length.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { plain as noColors } from '../../src/cli/terminal/color.ts';
import { indented } from '../../src/cli/terminal/fields.ts';
import { laidOut } from '../../src/cli/terminal/table.ts';
import { marked } from '../../src/cli/terminal/terminal.ts';
import { fenced } from '../../src/commands/board/lib/post/body.ts';
import { messageText } from '../../src/commands/board/lib/read/message-text.ts';
import { beginning } from '../../src/commands/board/threads.ts';
import { diffText } from '../../src/commands/file/lib/merge.ts';
import { newestOf } from '../../src/commands/run/lib/reply.ts';
import { canonicalJson } from '../../src/contract/canonical.ts';
import { findMentions, maskCodeAndLinks } from '../../src/contract/mentions.ts';
import { postMessageBody } from '../../src/contract/nouns/messages.ts';
import { nameProblem, titleProblem } from '../../src/contract/one-line.ts';
import { displayName } from '../../src/contract/schemas.ts';
import { escapeUntrusted, slug } from '../../src/contract/text.ts';
import { renderDigest } from '../../src/daemon/bundle/digest.ts';
import { attribute, body, quoted } from '../../src/daemon/bundle/escape.ts';
import { MAX_MESSAGE_BYTES, renderMessage } from '../../src/daemon/bundle/render.ts';
import { mask } from '../../src/daemon/log.ts';
import { contextOutput } from '../../src/hook/say.ts';
import { readPairingLine } from '../../src/server/pairing/lines.rules.ts';
import { ftsText, vectorOf } from '../../src/server/search/dialect.rules.ts';
import { matchesIn, snippetOf, wordsOf } from '../../src/server/search/words.rules.ts';
import { referencesIn } from '../../src/server/tasks/references.rules.ts';
import { findSecrets, redact } from '../../src/server/text/redaction.ts';
import { anyCharacter } from '../support/any-character.ts';
import { aMessage } from '../support/messages.ts';

const LENGTH = 65_536;
const MOST_TIMES = 20;

const wanted = { wanted: [{ words: ['plain', 'words'], prefix: true }], excluded: [] };
const longPhrase = { wanted: [{ words: Array(95).fill('a'), prefix: true }], excluded: [] };
const style = { paint: noColors, times: 'iso' as const, agent: true };
const reserved = ['system-reminder', 'turn_aborted'];

/** All that reads a message's text, by the program in which it does. */
const programs: Record<string, Record<string, (text: string) => unknown>> = {
  'the server': {
    'the shape of a post': (text) => postMessageBody.safeParse({ body: text }),
    'a display name': (text) => displayName.safeParse(text),
    'a title': titleProblem,
    'a name': nameProblem,
    'a name from a text': slug,
    'secrets in a text': redact,
    'secrets in a file': (text) => findSecrets(text, 'files'),
    mentions: findMentions,
    'code and links': maskCodeAndLinks,
    'task references': referencesIn,
    'a pairing line': readPairingLine,
    'the record': (text) => canonicalJson(text.toWellFormed()),
    'the index of SQLite': (text) => ftsText([wordsOf(text).map(({ folded }) => folded)]),
    'the index of Postgres': (text) => vectorOf([wordsOf(text).map(({ folded }) => folded)]),
    'what was found': (text) => matchesIn(text, wanted),
    'a long phrase that was found': (text) => matchesIn(text, longPhrase),
    'its line': (text) => snippetOf(text, [[LENGTH - 20, LENGTH - 10]]),
  },
  'the daemon': {
    'a body': (text) => body(text, reserved),
    'a message': (text) =>
      renderMessage(aMessage(1, { body: text.slice(0, MAX_MESSAGE_BYTES) }), 'claude', { reserved }),
    'a message in a digest': (text) => renderDigest({ board: 'b', seat: 's' }, [aMessage(1, { body: text })], {}),
    'an attribute': attribute,
    'a quotation': quoted,
    'a context': (text) => contextOutput('Stop', text),
    'the log': mask,
  },
  'the command line': {
    'its answer': (text) => JSON.parse(JSON.stringify({ text })),
    'a message': (text) => messageText(aMessage(1, { body: text }), style),
    'a message as Markdown': (text) => messageText(aMessage(1, { body: text }), { ...style, markdown: true }),
    'the beginning of a thread': beginning,
    'a text of a task': indented,
    'a cell of a table': (text) =>
      laidOut(
        [
          ['TITLE', 'NOTES'],
          [text, 'none'],
        ],
        60,
        stringWidth,
      ),
    'a difference': (text) => diffText(text, noColors),
    'a text as code': (text) => fenced(text, ''),
    'the bundle of a child': newestOf,
    'a locale without UTF-8': (text) => marked(text, { LANG: 'C' }),
    'what is printed': escapeUntrusted,
  },
};

const plainText = 'Please look at the new parser, say what you think of its tests, and merge it. '
  .repeat(1_000)
  .slice(0, LENGTH);

/** Whatever begins, continues or ends something that one of the scanners looks for. */
const pieces = [
  ...[
    ' ',
    '\n',
    '\r',
    '\r\n',
    '\t',
    '\0',
    '\x1b',
    '\x1b[31m',
    '\u2028',
    '\u3000',
    'a',
    'A',
    '0',
    'x ',
    'a ',
    'a b ',
    'ab\n',
  ],
  `${'a '.repeat(94)}b `,
  ...['-', '_', '.', '/', '\\', ':', '=', '+', '*', '"', "'", '?', '&', '|', '$', '{', '<', '>', '@', '#', '`', '~'],
  ...[
    '``',
    '```',
    '```\n',
    '~~~\n',
    '~~~',
    '://',
    'a://',
    '1://',
    'a.',
    'a-',
    'a+b.',
    'a-'.repeat(12),
    'a:b@',
    '[',
    ']',
  ],
  ...['@a', '@a ', '@a-', '@role:', '@role:a ', 'PAY-1', 'PAY-1 ', 'A-', 'AA-1-', '?key=', '?token=a', 'a://b:c@'],
  ...[
    'sk-',
    'sk-a',
    `sk-${'a'.repeat(20)}1 `,
    'sk_live_',
    'whsec_',
    'ghp_',
    'github_pat_',
    'AKIA',
    `AKIA${'A'.repeat(16)}`,
  ],
  ...[
    'AIza',
    'xoxb-',
    'npm_',
    'glpat-',
    'GOCSPX-',
    'pypi-',
    'hf_',
    'SG.',
    `SG.${'a'.repeat(22)}.`,
    'doo_v1_',
    'AccountKey=',
  ],
  ...['aws_secret_access_key', 'aws_secret_access_key =  "', 'https://hooks.slack.com/services/', 'AGE-SECRET-KEY-1'],
  ...[
    'eyJ',
    '-eyJ',
    '.eyJ',
    'eyJaaaaaaaa.',
    'authorization',
    'authorization: bearer ',
    '://a:',
    `${'a-'.repeat(9)}a://a:`,
  ],
  ...[
    '-----BEGIN ',
    '-----BEGIN PRIVATE KEY-----',
    `-----BEGIN ${'A '.repeat(40)}`,
    '[redacted:',
    '[redacted:jwt]',
    'abh_',
  ],
  ...[
    '<service-',
    '</service-message>',
    '< / SERVICE-',
    '<s',
    '<system-',
    '<\u{200b}',
    '<s\u{200b}',
    '\u{ff1c}\u{ff53}',
  ],
  ...['service:', '\nservice: x', '\ns', '\nserv', '\n\u{455}', '\n\u{200b}', '\n>', 'service ', 'service-pairing/1 '],
  ...[
    '\u{301}',
    '\u{301}\u{323}',
    'e\u{301}',
    '\u{e9}',
    '\u{e9} ',
    '\u{1ea5}',
    '\u{1d400}',
    '\u{fdfa}',
    '\u{fffd}',
    '\u{4e00}',
  ],
  ...[
    '\u{200b}',
    'a\u{200b}',
    '\u{ad}',
    '\u{202e}',
    '\u{e0041}',
    'a\u{e0041}',
    '\u{1f600}',
    '\u{1f468}\u{200d}',
    '\u{ac00}',
  ],
];
const beginnings = ['<', '</s', '@', 'eyJ', 'a://', '-----BEGIN ', '```', '`'];
const middles = [
  ...[' ', '\n', '\r', '\t', 'a', '0', '-', '.', ':', '/', '`', 'a.', 'a-', 'a '],
  ...['\u{200b}', '\u{301}', '\u{301}\u{323}', '\u{fffd}'],
];

const filled = (piece: string, length = LENGTH): string =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
const between = (start: string, middle: string, end: string): string =>
  start + filled(middle, LENGTH - start.length - end.length) + end;

const texts = [
  ...pieces.map((piece) => filled(piece)),
  ...beginnings.flatMap((start) => middles.map((middle) => between(start, middle, 'x'))),
];

const arbitraryPiece = fc.oneof(
  fc.constantFrom(...pieces, ...beginnings),
  fc.string({ unit: anyCharacter, minLength: 1 }),
);
const arbitraryText = fc.oneof(
  fc.array(arbitraryPiece, { minLength: 1, maxLength: 5 }).map((parts) => filled(parts.join(''))),
  fc.tuple(arbitraryPiece, arbitraryPiece, arbitraryPiece).map((parts) => between(...parts)),
);

/** Words in the plainest way. */
function simplyWords(text: string): unknown[] {
  const words: unknown[] = [];
  for (const { 0: word, index } of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu))
    words.push({ folded: word.toLowerCase().normalize('NFD'), start: index, end: index + word.length });
  return words;
}

/** Milliseconds of processor time: those that others take on a busy machine do not count. */
function timeOf(act: () => unknown): number {
  const begun = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000;
}

/** The least of several tries: what else the machine does only ever adds to it. */
const leastTime = (act: () => unknown): number => Math.min(...Array.from({ length: 15 }, () => timeOf(act)));

describe('a text of 64 KiB takes at most 20 times the time of plain text', () => {
  /** For what has nothing to do in plain text: to find its words. */
  let least = 0;

  before(() => {
    simplyWords(filled('\u{e9} '));
    least = leastTime(() => simplyWords(plainText));
  });

  for (const [program, scanners] of Object.entries(programs)) {
    for (const [name, read] of Object.entries(scanners)) {
      it(`in ${program}: ${name}`, () => {
        let plain = Math.max(
          least,
          leastTime(() => read(plainText)),
        );
        /** One measurement that is short enough shows it; only what is long every time is too long. */
        const expectFast = (text: string): void => {
          let took = 0;
          for (let n = 0; n < 30; n++) {
            // The machine, or the compiled form of the scanner, may have become slower since.
            if (n === 10)
              plain = Math.max(
                plain,
                leastTime(() => read(plainText)),
              );
            took = timeOf(() => read(text));
            if (took <= MOST_TIMES * plain) return;
            if (took > 50 * MOST_TIMES * plain) break;
          }
          const shown = JSON.stringify(`${text.slice(0, 30)}…${text.slice(-5)}`);
          expect.fail(`${shown} takes ${took.toFixed(1)} ms, plain text ${plain.toFixed(1)} ms`);
        };
        for (const text of texts) expectFast(text);
        fc.assert(fc.property(arbitraryText, expectFast), { numRuns: 40, endOnFailure: true });
      });
    }
  }
});
