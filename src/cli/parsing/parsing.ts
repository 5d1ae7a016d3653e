/** Parses the words of a command line into flags and arguments. */
import * as Args from '@oclif/core/args';
import { parse } from '@oclif/core/parser';
import { patterns } from '../../contract/ids.ts';
import { usage } from '../../local/failure.ts';
import { nearestNames } from './spelling.ts';

interface Shape {
  args: object;
  flags: object;
  strict: boolean;
  /** Whether it may begin with the name of its board. */
  boardFirst: boolean;
  /** Words in the place of an argument that may be left out which are no board. */
  ownWords: readonly string[] | undefined;
  context: unknown;
}

interface Parsed {
  args: Record<string, unknown>;
  flags: Record<string, unknown>;
  /** What `--json` names. */
  fields?: string;
}

/** What `--json=FIELD,…` names; the parser knows the flag alone. */
function withoutFields(argv: string[]): { argv: string[]; fields?: string } {
  const end = argv.indexOf('--');
  const at = argv.findIndex((word, i) => word.startsWith('--json=') && (end < 0 || i < end));
  return at < 0 ? { argv } : { argv: argv.with(at, '--json'), fields: argv[at]!.slice('--json='.length) };
}

/** The parser takes a value behind a flag that has none for an argument: `say --urgent=false` would post "false" as urgent. */
function refuseValues(argv: string[], flags: object): void {
  const end = argv.indexOf('--');
  for (const word of argv.slice(0, end < 0 ? undefined : end)) {
    const [, name = '', no, positive = ''] = /^--((no-)?([a-z-]+))=/.exec(word) ?? [];
    const { [name]: flag, [positive]: turned } = flags as Record<string, { type: string; allowNo?: boolean }>;
    if (flag?.type === 'boolean' || (no && turned?.type === 'boolean' && turned.allowNo))
      throw usage(name === 'json' ? 'All fields go into one --json=FIELD,….' : `--${name} takes no value.`);
  }
}

/** What every object has, such as constructor, the parser takes for a flag. */
function refuseInherited(argv: string[]): void {
  const end = argv.indexOf('--');
  const words = argv.slice(0, end < 0 ? undefined : end).map((word) => word.split('=', 1)[0]!);
  const flags = words.filter((word) => word.startsWith('--') && word.slice(2) in {});
  if (flags.length > 0) throw Object.assign(new Error('No such flag'), { flags });
}

/** As the framework reads them; where the command is about one board, one word too many begins with its name. */
export async function parsed(typed: string[], shape: Shape): Promise<Parsed> {
  const { argv, ...named } = withoutFields(typed);
  refuseInherited(argv);
  refuseValues(argv, shape.flags);
  try {
    return { ...((await boardAlone(argv, shape)) ?? ((await parse(argv, shape as never)) as Parsed)), ...named };
  } catch (error) {
    const found = wordsIn(error);
    const words = found.length > 0 ? found : await allWords(argv, shape);
    const tooMany = words.length === Object.keys(shape.args).length + 1;
    const fields = tooMany && !named.fields ? fieldsBehind(shape, argv, words) : undefined;
    if (fields !== undefined)
      return { ...((await parse(argv.toSpliced(argv.indexOf('--json') + 1, 1), shape as never)) as Parsed), fields };
    if (!shape.boardFirst || !tooMany || !mayBeBoard(words[0] ?? '')) throw error;
    const args = { ...BOARD, ...shape.args };
    const again = (await parse(argv, { ...shape, args } as never).catch(() => null)) as Parsed | null;
    if (!again) throw error;
    const { board, ...rest } = again.args;
    if (again.flags['board'] !== undefined && again.flags['board'] !== board)
      throw usage(`Two boards are named: ${board}, and ${again.flags['board']} with --board.`, `Leave one of them out`);
    return { args: rest, flags: { ...again.flags, board }, ...named };
  }
}

const BOARD = { board: Args.string({ required: true, ignoreStdin: true }) };

/** The one word of a command whose argument may be left out is the board, unless it is a word of that argument, or spelt like one. */
async function boardAlone(argv: string[], { boardFirst, ownWords = [], ...shape }: Shape): Promise<Parsed | null> {
  const [arg, ...more] = Object.values(shape.args) as { required?: boolean }[];
  if (!boardFirst || !arg || arg.required || more.length > 0) return null;
  const alone = (await parse(argv, { ...shape, args: BOARD } as never).catch(() => null)) as Parsed | null;
  const board = String(alone?.args['board'] ?? '');
  if (!alone || alone.flags['board'] !== undefined || !mayBeBoard(board)) return null;
  return nearestNames(board, ownWords).length > 0 ? null : { args: {}, flags: { ...alone.flags, board } };
}

/** All that is no flag, where a word that is none of an argument's own ended the reading. */
async function allWords(argv: string[], shape: Shape): Promise<string[]> {
  const read = await parse(argv, { ...shape, args: {}, strict: false } as never).catch(() => null);
  return (read?.argv ?? []).map(String);
}

/** One word too many that stands behind `--json` is its fields, unless it may be a board. */
function fieldsBehind({ boardFirst }: Shape, argv: string[], words: string[]): string | undefined {
  const at = argv.indexOf('--json');
  const word = argv[at + 1] ?? '';
  if (at < 0 || !words.includes(word) || !/^[a-z_]+(,[a-z_]+)*$/.test(word)) return undefined;
  return boardFirst && mayBeBoard(word) ? undefined : word;
}

/** What an error of the parser took for arguments. */
export function wordsIn(error: unknown): string[] {
  const { parse } = error as { parse?: { output?: { argv?: unknown[] } } };
  return (parse?.output?.argv ?? []).map(String);
}

/** The flags that stand beside what is wrong. */
export function flagsIn(error: unknown): Record<string, unknown> {
  const { parse } = error as { parse?: { output?: { flags?: Record<string, unknown> } } };
  return parse?.output?.flags ?? {};
}

/** Whether this word can be the name or id of a board; a number is rather one of a message. */
export const mayBeBoard = (word: string): boolean =>
  /^brd_/.test(word) || (patterns.boardName.test(word) && !/^\d+$/.test(word));
