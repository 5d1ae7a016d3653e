/** Finds the command that the words of the command line name, from the names of all commands alone. */
import { type Names, topics } from './help/catalog.ts';

type Chosen =
  | { kind: 'command'; id: string; argv: string[] }
  | { kind: 'help'; of: string[] }
  | { kind: 'unknown'; words: string[] };

const DEEPEST = 3;

/** The longest run of leading words that names a command decides. */
export function choose(argv: string[], names: Names): Chosen {
  if (argv.length === 0 || isHelp(argv[0]!)) return { kind: 'help', of: [] };
  if (argv[0] === '--version') return choose(['version', ...argv.slice(1)], names);
  if (argv.length === 1 && argv[0] === '--json') return choose(['help', '--json'], names);
  // What agents are taught to type; an ask has words, so it cannot be meant.
  if (argv[0] === 'ask' && argv[1] === '--open') return choose(['asks', ...argv.slice(2)], names);
  const first = argv.findIndex((word) => word.startsWith('-'));
  const words = first < 0 ? argv : argv.slice(0, first);
  const found = longest(words, names);
  if (found) return withHelp(found.id, argv.slice(found.used));
  return topicAlone(words, argv, names) ?? { kind: 'unknown', words };
}

function longest(words: string[], names: Names): { id: string; used: number } | null {
  for (let used = Math.min(DEEPEST, words.length); used > 0; used--) {
    const id = names.get(words.slice(0, used).join(':'));
    if (id) return { id, used };
  }
  return null;
}

function withHelp(id: string, argv: string[]): Chosen {
  const end = argv.indexOf('--');
  const asked = (end < 0 ? argv : argv.slice(0, end)).some(isHelp);
  return asked ? { kind: 'help', of: id.split(':') } : { kind: 'command', id, argv };
}

/** A topic without a further word shows its list, or its help. */
function topicAlone(words: string[], argv: string[], names: Names): Chosen | null {
  const topic = words.length === 1 && Object.hasOwn(topics, words[0]!) ? topics[words[0]!] : undefined;
  if (!topic) return null;
  const rest = argv.slice(1);
  const id = topic.runs && !rest.some(isHelp) ? names.get(topic.runs) : undefined;
  return id ? { kind: 'command', id, argv: rest } : { kind: 'help', of: [words[0]!] };
}

const isHelp = (word: string) => word === '--help' || word === '-h';
