/** A command that does not exist: what was probably meant. */
import { existsSync } from 'node:fs';
import { Failure } from '../local/failure.ts';
import { aliases, type Catalog } from './help/catalog.ts';

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
  const typed = words.slice(0, 2).join(' ');
  const near = nearest(typed, catalog);
  return new Failure('invalid_request', `There is no command "${typed}".`, {
    hint: near.length > 0 ? `Did you mean: ${near.map((name) => `service ${name}`).join(', ')}` : 'service help',
    exit: 2,
  });
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

function nearest(typed: string, catalog: Catalog): string[] {
  const names = [...Object.keys(catalog.commands), ...aliases(catalog).keys()].map((id) => id.replaceAll(':', ' '));
  const first = typed.split(' ')[0]!;
  const near = names
    .map((name) => ({ name, far: Math.min(distance(typed, name), distance(first, name)) }))
    .filter(({ name, far }) => far <= Math.max(1, Math.floor(name.length / 3)))
    .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1));
  return near
    .filter(({ far }) => far === near[0]?.far)
    .slice(0, 3)
    .map(({ name }) => name);
}

/** Edit distance: letters put in, left out, replaced, or two neighbours swapped. */
export function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const best = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + same);
      row.push(swapped ? Math.min(best, rows[i - 2]![j - 2]! + 1) : best);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
