/** Help as text, from the same data as the man pages. */
import { noSuchCommand } from '../parsing/unknown-command.ts';
import { screenWidth } from '../terminal/table.ts';
import {
  type Catalog,
  type CatalogArg,
  type CatalogCommand,
  type CatalogFlag,
  commandNames,
  daily,
  topics,
  uses,
  visibleCommands,
} from './catalog.ts';
import { exitCodes, files, variables } from './tables.ts';

const INDENT = '  ';
/** Where less is left for the right column, it stands below the left one. */
const NARROW = 24;

/** How help is written: what the program is called, and how many columns there are. */
interface Page {
  bin: string;
  width: number;
}

/** Help text; unknown words are a usage error. */
export function helpText(catalog: Catalog, words: string[], page: Page): string {
  if (words.length === 0) return overview(catalog, page);
  const id = words.join(':');
  const command = catalog.commands[commandNames(catalog).get(id) ?? ''];
  if (command) return commandHelp(catalog, command, page);
  if (words.length === 1 && Object.hasOwn(topics, id)) return topicHelp(catalog, id, page);
  if (words.length === 1 && Object.hasOwn(tables, id)) return tables[id]!(page);
  throw noSuchCommand(words, catalog);
}

/** What is about no single command, which the man pages of section 7 hold too. */
const tables: Record<string, (page: Page) => string> = {
  environment: (page) =>
    [section('VARIABLES', columns(variables, page)), section('FILES', columns(files, page))].join('\n\n'),
  'exit-codes': (page) =>
    section(
      'EXIT CODES',
      columns(
        exitCodes.map(([code, meaning]) => [String(code), meaning]),
        page,
      ),
    ),
};

/** The help as it fits into this terminal, or into 80 columns. */
export function helpHere(catalog: Catalog, words: string[], bin: string): string {
  return helpText(catalog, words, { bin, width: screenWidth() });
}

/** How a flag is written: `-t, --to=TARGET`. */
export function flagWord(flag: CatalogFlag): string {
  const value = flag.type === 'option' ? ` ${flag.helpValue ?? flag.options?.join('|') ?? 'VALUE'}` : '';
  const many = flag.multiple ? '…' : '';
  return `${flag.char ? `-${flag.char}, ` : '    '}--${flag.name}${value}${many}`;
}

/** Flags of the command itself, then those every command has. */
export function flagGroups(command: CatalogCommand): { own: CatalogFlag[]; global: CatalogFlag[] } {
  const all = Object.values(command.flags).filter((flag) => !flag.hidden);
  const byName = (a: CatalogFlag, b: CatalogFlag) => (a.name < b.name ? -1 : 1);
  return {
    own: all.filter((flag) => flag.helpGroup !== 'GLOBAL').sort(byName),
    global: all.filter((flag) => flag.helpGroup === 'GLOBAL').sort(byName),
  };
}

/** The whole help of one command. */
function commandHelp(catalog: Catalog, command: CatalogCommand, page: Page): string {
  const { bin } = page;
  const { own, global } = flagGroups(command);
  const args = argsOf(command);
  const below = visibleCommands(catalog, command.id);
  const commands = (lines: readonly string[]) =>
    lines.flatMap((line) => wrappedCommand(`$ ${line}`, page.width - INDENT.length));
  const flags = (some: CatalogFlag[]) =>
    columns(
      some.map((flag) => [flagWord(flag), flag.description ?? '']),
      page,
    );
  const sections = [
    wrapped(command.summary ?? '', page.width).join('\n'),
    section('USAGE', commands([`${bin} ${usageLine(command)}`])),
    section(
      'ARGUMENTS',
      columns(
        args.map((arg) => [arg.name.toUpperCase(), arg.description ?? '']),
        page,
      ),
    ),
    section('FLAGS', flags(own)),
    section('GLOBAL FLAGS', flags(global)),
    section('DESCRIPTION', wrapped(command.description ?? '', page.width - INDENT.length)),
    section('COMMANDS', columns(below.map(row), page)),
    section('ALIASES', commands(command.aliases.map((alias) => `${bin} ${alias.replaceAll(':', ' ')}`))),
    section('EXAMPLES', commands((command.examples ?? []).map((example) => forBin(example, bin)))),
    section(
      'SEE ALSO',
      wrapped((command.seeAlso ?? []).map((other) => `${bin} ${other}`).join(', '), page.width - INDENT.length),
    ),
  ];
  return sections.filter(Boolean).join('\n\n');
}

/** The commands below a topic. */
function topicHelp(catalog: Catalog, topic: string, page: Page): string {
  const { bin } = page;
  const { summary, runs } = topics[topic] ?? { summary: '' };
  const alone = runs ? [`${bin} ${topic} alone runs ${bin} ${runs.replaceAll(':', ' ')}.`] : [];
  const usage = section('USAGE', [`$ ${bin} ${topic} COMMAND`]);
  const commands = section('COMMANDS', columns(visibleCommands(catalog, topic).map(row), page));
  return [summary, usage, commands, ...alone].join('\n\n');
}

/**
 * What `service` alone prints, on one screen: the commands of every day, then all others by what they are used for, which
 * are only named where the terminal is too narrow to say in one line what each is for.
 */
function overview(catalog: Catalog, page: Page): string {
  const { bin } = page;
  const groups = [['EVERY DAY', daily] as const, ...uses];
  const width = Math.max(...groups.flatMap(([, rows]) => rows.map(([left]) => left.length)));
  const room = page.width - INDENT.length;
  const broad = groups.every(([, rows]) => rows.every(([, right]) => width + 2 + right.length <= room));
  const named = (rows: (typeof uses)[number][1]) => wrapped(rows.map(([left]) => left).join(', '), room);
  return [
    wrapped(`Shared boards for people and their software agents. Version ${catalog.version}.`, page.width).join('\n'),
    section('EVERY DAY', columns(daily, page, broad ? width : undefined)),
    ...uses.map(([title, rows]) => section(title, broad ? columns(rows, page, width) : named(rows))),
    wrapped(`More on each: ${bin} help TOPIC, ${bin} help COMMAND, or --help behind it.`, page.width).join('\n'),
  ].join('\n\n');
}

/** A command of a list, with its short name. */
function row({ id, aliases, summary = '' }: CatalogCommand): [string, string] {
  const short = aliases.filter((alias) => !/[: ]/.test(alias));
  return [[id.replaceAll(':', ' '), ...short].join(', '), summary];
}

/** An example names the program as it was called. */
function forBin(example: string, bin: string): string {
  return bin === 'service' ? example : example.replace(/(^|\| |&& )service /g, `$1${bin} `);
}

function section(title: string, lines: string[]): string {
  if (lines.length === 0 || (lines.length === 1 && lines[0] === '')) return '';
  return [title, ...lines.map((line) => (line ? INDENT + line : ''))].join('\n');
}

/** Two columns, the right one wrapped; where the left one is long, or little room is left, it stands below. */
function columns(rows: readonly (readonly [string, string])[], page: Page, wanted?: number): string[] {
  const room = page.width - INDENT.length;
  const width = wanted ?? Math.min(36, Math.max(0, ...rows.map(([left]) => left.length)));
  const below = room - width - 2 < NARROW;
  const indent = below ? 6 : width + 2;
  return rows.flatMap(([left, right]) => {
    const lines = wrapped(right, room - indent).map((line) => ' '.repeat(indent) + line);
    if (below || left.length > width) return [left, ...lines].filter((line) => line.trim() !== '');
    return [left.padEnd(indent) + (lines[0] ?? '').trimStart(), ...lines.slice(1)].map((line) => line.trimEnd());
  });
}

/** A text as lines. Lines that begin with a space, and empty ones, stay as they are; others run on as paragraphs. */
export function wrapped(text: string, width: number): string[] {
  const paragraphs: string[] = [];
  let runsOn = false;
  for (const line of text.split('\n')) {
    const kept = line === '' || line.startsWith(' ');
    if (runsOn && !kept) paragraphs.push(`${paragraphs.pop()} ${line}`);
    else paragraphs.push(line);
    runsOn = !kept;
  }
  return paragraphs.flatMap((line) => (line.startsWith(' ') ? [line] : filled(line.split(' '), width)));
}

/** A command as lines that a shell reads as one: it is cut between its words, never in a quoted text. */
function wrappedCommand(line: string, width: number): string[] {
  const words = line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  // What goes on takes two columns for the backslash, and begins further in.
  const lines = filled(words, width - 6);
  return lines.map((part, i) => `${i === 0 ? '' : '    '}${part}${i < lines.length - 1 ? ' \\' : ''}`);
}

function filled(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

type Usable = Pick<CatalogCommand, 'id' | 'args' | 'boardFirst' | 'usage'>;

/** `board post [BODY] [flags]` */
export function usageLine(command: Usable): string {
  const words = command.usage === undefined ? argsOf(command).map(argWord) : [command.usage];
  return [command.id.replaceAll(':', ' '), ...words, '[flags]'].join(' ');
}

/** What a command takes, the board that it may begin with included. */
export function argsOf({ args, boardFirst }: Pick<Usable, 'args' | 'boardFirst'>): CatalogArg[] {
  const board = { name: 'board', description: 'The board, instead of --board' };
  return [...(boardFirst ? [board] : []), ...Object.values(args)];
}

/** How an argument is written in a usage line. */
function argWord(arg: CatalogArg): string {
  const name = `${arg.name.toUpperCase()}${arg.multiple ? '…' : ''}`;
  return arg.required ? name : `[${name}]`;
}

/** The hint of a command line that lacks something: how the command is typed, and an example. */
export function usageHint(command: Usable, examples: readonly string[] = []): string {
  const usage = `Usage: service ${usageLine(command)}`;
  return examples[0] === undefined ? usage : `${usage}; such as: ${examples[0]}`;
}
