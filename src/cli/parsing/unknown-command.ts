/** A command that does not exist: what was probably meant. */
import { existsSync } from 'node:fs';
import { Failure } from '../../local/failure.ts';
import { aliases, type Catalog, topics } from '../help/catalog.ts';
import { closest, within } from './spelling.ts';

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
  return argv.length >= 2 && /^[\w@.-]+$/.test(argv[0]!) && !argv[0]!.startsWith('-') && initVerbs.has(argv[1]!);
}

/** The refusal for words that are no command. */
export function unknownCommand(argv: string[], words: string[], catalog: Catalog): Failure {
  if (looksLikeInit(argv)) return initCall(argv);
  if (words.length === 0)
    return new Failure('invalid_request', `Flags go after the command, but the first word is ${argv[0]}.`, {
      hint: 'service help',
      exit: 2,
    });
  return noSuchCommand(words, catalog);
}

/** There is no such command: the nearest ones, or where to look. */
export function noSuchCommand(words: string[], catalog: Catalog): Failure {
  const typed = words.slice(0, 2).join(' ');
  const near = nearest(words, catalog).map((name) => `service ${name}`);
  const help = topics[words[0]!] ? `service help ${words[0]}` : 'service help';
  const hint = near.length > 0 ? `Did you mean: ${near.join(', ')}` : help;
  return new Failure('invalid_request', `There is no command "${typed}".`, { hint, exit: 2 });
}

function initCall(argv: string[]): Failure {
  const system = existsSync(SYSTEM_PROGRAM) ? SYSTEM_PROGRAM : "the system's own service program";
  return new Failure(
    'invalid_request',
    'This is the board service; it does not start or stop programs of the system.',
    {
      hint: `For those use ${existsSync(SYSTEM_PROGRAM) ? `${system} ${argv.join(' ')}` : system}. This program is also installed as board-service, a name nothing else has.`,
      exit: 2,
    },
  );
}

/** The nearest by edit distance. */
function nearest(words: string[], catalog: Catalog): string[] {
  const [first = '', second = ''] = words;
  const all = names(catalog);
  if (topics[first]) {
    const verbs = all.filter(({ name }) => name.startsWith(`${first} `));
    return closest(verbs.map(({ name, means }) => ({ means, far: within(second, name.slice(first.length + 1)) })));
  }
  const both = closest(all.map(({ name, means }) => ({ means, far: within(`${first} ${second}`.trim(), name) })));
  if (both.length > 0) return both;
  // What follows may be a value; and a verb may have been typed without its topic.
  return closest(
    all.map(({ name, means }) => ({ means, far: Math.min(within(first, name), within(first, verbOf(name))) })),
  );
}

const verbOf = (name: string) => name.split(' ').at(-1)!;

/** Every way to name a command: its words, its short name, and a topic for what it does alone. */
function names(catalog: Catalog): { name: string; means: string }[] {
  const words = (id: string) => id.replaceAll(':', ' ');
  const direct = [...Object.keys(catalog.commands), ...aliases(catalog).keys()].map(words);
  const alone = Object.entries(topics).flatMap(([topic, { runs }]) =>
    runs && catalog.commands[runs] ? [{ name: topic, means: words(runs) }] : [],
  );
  return [...direct.map((name) => ({ name, means: name })), ...alone];
}
