/** Finds the command that the words of the command line name, from the manifest alone. */
import { aliases, type Catalog, type CatalogCommand, topics } from './help/catalog.ts';

type Chosen =
  | { kind: 'command'; command: CatalogCommand; argv: string[] }
  | { kind: 'help'; of: string[] }
  | { kind: 'unknown'; words: string[] };

const DEEPEST = 3;

/** The longest run of leading words that names a command decides. */
export function choose(argv: string[], catalog: Catalog): Chosen {
  if (argv.length === 0 || isHelp(argv[0]!)) return { kind: 'help', of: [] };
  if (argv[0] === '--version') return choose(['version', ...argv.slice(1)], catalog);
  if (argv.length === 1 && argv[0] === '--json') return choose(['help', '--json'], catalog);
  // What agents are taught to type; an ask has words, so it cannot be meant.
  if (argv[0] === 'ask' && argv[1] === '--open') return choose(['asks', ...argv.slice(2)], catalog);
  const first = argv.findIndex((word) => word.startsWith('-'));
  const words = first < 0 ? argv : argv.slice(0, first);
  const found = longest(words, catalog);
  if (found) return withHelp(found.command, argv.slice(found.used));
  return topicAlone(words, argv, catalog) ?? { kind: 'unknown', words };
}

function longest(words: string[], catalog: Catalog): { command: CatalogCommand; used: number } | null {
  const short = aliases(catalog);
  for (let used = Math.min(DEEPEST, words.length); used > 0; used--) {
    const id = words.slice(0, used).join(':');
    const command = catalog.commands[id] ?? catalog.commands[short.get(id) ?? ''];
    if (command) return { command, used };
  }
  return null;
}

function withHelp(command: CatalogCommand, argv: string[]): Chosen {
  const end = argv.indexOf('--');
  const asked = (end < 0 ? argv : argv.slice(0, end)).some(isHelp);
  return asked ? { kind: 'help', of: command.id.split(':') } : { kind: 'command', command, argv };
}

/** A topic without a further word shows its list, or its help. */
function topicAlone(words: string[], argv: string[], catalog: Catalog): Chosen | null {
  const topic = words.length === 1 ? topics[words[0]!] : undefined;
  if (!topic) return null;
  const rest = argv.slice(1);
  const command = topic.runs && !rest.some(isHelp) ? catalog.commands[topic.runs] : undefined;
  return command ? { kind: 'command', command, argv: rest } : { kind: 'help', of: [words[0]!] };
}

const isHelp = (word: string) => word === '--help' || word === '-h';
