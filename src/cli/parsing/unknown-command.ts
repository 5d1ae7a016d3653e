/** The error for a command that does not exist, with the commands that are spelt most like it. */
import { existsSync } from 'node:fs';
import { type Failure, usage } from '../../local/failure.ts';
import { type Catalog, commandNames, topics } from '../help/catalog.ts';
import { meantByWord, verbsLike } from './other-words.ts';
import { closest, typoDistance } from './spelling.ts';

const SYSTEM_PROGRAM = '/usr/sbin/service';
const initVerbs = new Set([
  'start',
  'stop',
  'restart',
  'reload',
  'status',
  'force-reload',
  'condrestart',
  'try-restart',
  'enable',
  'disable',
]);

/** Words meant for the system's program of the same name, such as `service nginx restart`. */
export function looksLikeInit(argv: string[]): boolean {
  if (argv[0] === '--status-all' || argv[0] === '--full-restart') return true;
  if (Object.hasOwn(topics, argv[0] ?? '')) return false;
  return argv.length >= 2 && /^[\w@.-]+$/.test(argv[0]!) && !argv[0]!.startsWith('-') && initVerbs.has(argv[1]!);
}

/** The refusal for words that are no command. */
export function unknownCommand(argv: string[], words: string[], catalog: Catalog): Failure {
  if (looksLikeInit(argv)) return initCall(argv);
  if (words.length === 0) return usage(`Flags go after the command, but the first word is ${argv[0]}.`, 'service help');
  return noSuchCommand(words, catalog);
}

/** There is no such command: the nearest ones, or where to look. */
export function noSuchCommand(words: string[], catalog: Catalog): Failure {
  const typed = words.slice(0, 2).join(' ');
  const meant = meantByWord(words[0]!, words[1]);
  const near = meant ? [meant] : nearest(words, catalog).map((name) => `service ${name}`);
  const help = Object.hasOwn(topics, words[0]!) ? `service help ${words[0]}` : 'service help';
  const hint = near.length > 0 ? `Did you mean: ${near.join(', ')}` : help;
  return usage(`There is no command "${typed}".`, hint);
}

function initCall(argv: string[]): Failure {
  const system = existsSync(SYSTEM_PROGRAM) ? SYSTEM_PROGRAM : "the system's own service program";
  return usage(
    'This is the board service; it does not start or stop programs of the system.',
    `For those use ${existsSync(SYSTEM_PROGRAM) ? `${system} ${argv.join(' ')}` : system}. This program is also installed as board-service, a name nothing else has.`,
  );
}

/** The nearest by edit distance; a verb typed without its topic is nearer than any. */
function nearest(words: string[], catalog: Catalog): string[] {
  const [first = '', second = ''] = words;
  const all = names(catalog);
  const exact = closest(
    all.filter(({ typed }) => typed.endsWith(` ${first}`)).map(({ command }) => ({ name: command, distance: 0 })),
  );
  if (Object.hasOwn(topics, first)) {
    const verbs = all.filter(({ typed }) => typed.startsWith(`${first} `));
    const near = closest(
      verbs.map(({ typed, command }) => ({
        name: command,
        distance: typoDistance(second, typed.slice(first.length + 1)),
      })),
    );
    if (near.length > 0 || exact.length > 0) return near.length > 0 ? near : exact;
    const alike = verbsLike(second).map((verb) => `${first} ${verb}`);
    return closest(
      verbs.filter(({ typed }) => alike.includes(typed)).map(({ command }) => ({ name: command, distance: 0 })),
    );
  }
  if (exact.length > 0) return exact;
  const line = `${first} ${second}`.trim();
  const both = closest(all.map(({ typed, command }) => ({ name: command, distance: typoDistance(line, typed) })));
  if (both.length > 0) return both;
  // What follows may be a value; and a verb may have been misspelt without its topic.
  return closest(
    all.map(({ typed, command }) => ({
      name: command,
      distance: Math.min(typoDistance(first, typed), typoDistance(first, verbOf(typed))),
    })),
  );
}

const verbOf = (name: string) => name.split(' ').at(-1)!;

/** Every way to type a command: its words, its alias, and the topic that runs it. */
function names(catalog: Catalog): { typed: string; command: string }[] {
  const words = (id: string) => id.replaceAll(':', ' ');
  const direct = [...commandNames(catalog).keys()].map(words);
  const alone = Object.entries(topics).flatMap(([topic, { runs }]) =>
    runs && catalog.commands[runs] ? [{ typed: topic, command: words(runs) }] : [],
  );
  return [...direct.map((name) => ({ typed: name, command: name })), ...alone];
}
