/** Turns the flag parser's errors into messages that say what is wrong and what to type. */
import { either } from '../../contract/openapi/problems.ts';
import { shellArgument } from '../../contract/text.ts';
import { Failure, missingArgument, usage } from '../../local/failure.ts';
import { meansToShow, meantByFlag } from './other-words.ts';
import { mayBeBoard, wordsIn } from './parsing.ts';
import { nearestNames } from './spelling.ts';

interface ParserError extends Error {
  flags?: unknown;
  args?: unknown;
}

/** What was typed, and for which command. */
interface CommandLine {
  id: string;
  aliases: string[];
  args: Record<string, { options?: readonly string[] | undefined }>;
  /** The flags it has, by name. */
  flags: Record<string, { type: string }>;
  argv: string[];
  /** The boards there are; null where nobody could be asked. */
  boards(): Promise<string[] | null>;
}

/** A usage error (exit 2) for anything the parser threw. */
export async function usageError(error: unknown, line: CommandLine): Promise<Failure> {
  // The parser writes words of its own around what a flag said about its value.
  if (error instanceof Failure) return usage(tidy(unwrapped(error.message)), error.hint);
  const help = `service ${line.id.replaceAll(':', ' ')} --help`;
  const known = error as ParserError;
  // Told by what they carry: the framework's classes are packed into the bundle under no name of their own.
  if (Array.isArray(known.flags)) return unknownFlags(known.flags, line, help);
  if (Array.isArray(known.args) && known.message.startsWith('Missing')) {
    const names = (known.args as { name: string }[]).map((arg) => arg.name.toUpperCase());
    return missingArgument(`Missing: ${names.join(', ')}`);
  }
  if (Array.isArray(known.args)) return usage(tidy(known.message), (await meant(known, line)) ?? help);
  const lacking = [...known.message.matchAll(/Missing required flag ([a-z-]+)/g)].map(([, name]) => `--${name}`);
  if (lacking.length > 0) return missingArgument(`Missing: ${lacking.join(', ')}`);
  const listed = ofListed(known.message, line);
  if (listed) return usage(listed.message, listed.meant.length > 0 ? `Did you mean: ${listed.meant.join(', ')}` : help);
  return usage(ofNumber(known.message) ?? ofFlags(known.message) ?? tidy(unwrapped(known.message)), help);
}

/** Flags that do not go together, or that need another; null for any other error. */
function ofFlags(message: string): string | null {
  const text = tidy(message);
  const both = /^(--[a-z-]+)(?:=[\s\S]*)? cannot also be provided when using (--[a-z-]+)$/.exec(text);
  if (both) return `${both[1]} does not go with ${both[2]}.`;
  const lone = /^All of the following must be provided when using (--[a-z-]+): (--[a-z-]+)$/.exec(text);
  return lone ? `${lone[1]} needs ${lone[2]}.` : null;
}

const got = (name: string, takes: string, value: string) => `${name} takes ${takes}, but got "${value}".`;

/** A value that is not of the accepted ones, and what was probably meant; null for any other error. */
function ofListed(message: string, { args }: CommandLine): { message: string; meant: string[] } | null {
  const listed = /^(?:Parsing --\S+ )?Expected (?:(--[a-z-]+)=)?([\s\S]*) to be one of: (.*)$/.exec(tidy(message));
  if (!listed) return null;
  const [, flag, value = '', all = ''] = listed;
  const options = all.split(', ');
  const arg = Object.keys(args).find((each) => args[each]?.options?.join(', ') === all);
  const meant = nearestNames(value, options).map((near) => (flag === undefined ? near : `${flag} ${near}`));
  return { message: got(flag ?? (arg ?? 'It').toUpperCase(), either(options), value), meant };
}

/** A value that is no number, or one out of bounds; null for any other error. */
function ofNumber(message: string): string | null {
  const number =
    /^Parsing (--\S+) Expected an integer( (?:less|greater) than or equal to (\d+))? but received: (.*)$/.exec(
      tidy(message),
    );
  if (!number) return null;
  const [, flag = '', bound, limit, value = ''] = number;
  const takes = bound ? ` of at ${bound.includes('less') ? 'most' : 'least'} ${limit}` : '';
  return got(flag, `a whole number${takes}`, value);
}

/** Without what the parser writes ahead of what a flag said about its value. */
const unwrapped = (message: string): string => message.replace(/^Parsing --\S+\s+/, '');

/** Words too many. */
function meant(error: ParserError, command: CommandLine): Promise<string | null> {
  const { args, flags, argv, boards } = command;
  return meantBy({ name: shortName(command), args: Object.keys(args), flags, argv, values: wordsIn(error), boards });
}

const shortName = ({ id, aliases }: CommandLine): string =>
  aliases.find((alias) => !alias.includes(':')) ?? id.replaceAll(':', ' ');

interface Given {
  flags: Record<string, unknown>;
  args: Record<string, unknown>;
  mayBeEmpty: string[];
  help: string;
}

/**
 * Refuses a value that is empty. A script whose variable is not set gives one, and taken as "not given" it would send
 * a message to everybody, as somebody else or to another board.
 */
export function refuseEmpty({ flags, args, mayBeEmpty, help }: Given): void {
  const empty = (value: unknown): boolean =>
    Array.isArray(value) ? value.some(empty) : typeof value === 'string' && value.trim() === '';
  const found = (values: Record<string, unknown>) =>
    Object.keys(values).find((name) => empty(values[name]) && !mayBeEmpty.includes(name));
  const flag = found(flags);
  const name = flag === undefined ? found(args)?.toUpperCase() : `--${flag}`;
  if (name !== undefined) throw usage(`${name} has no value.`, help);
}

function unknownFlags(given: string[], command: CommandLine, help: string): Failure {
  const flags = [...new Set(given)];
  const { id } = command;
  const known = Object.keys(command.flags);
  // A text that begins with a dash, such as a list, looks like a flag.
  const text = flags.find((flag) => /\s/.test(flag));
  if (text !== undefined) {
    const [front, behind] = atDashes(command.argv);
    const rest = front.filter((word) => word !== text);
    const words = isText(Object.keys(command.args)) ? [[text, ...behind].join(' ')] : [text, ...behind];
    return usage('A text that begins with "-" looks like a flag.', textLast(line(shortName(command), rest), words));
  }
  const meant = flags.flatMap((flag) => meantOf(flag, id, known));
  const sentence = meant.find((word) => !word.startsWith('--'));
  const hint = sentence ?? (meant.length === 0 ? help : `Did you mean: ${meant.join(', ')}`);
  return usage(`Unknown flag${flags.length > 1 ? 's' : ''}: ${flags.join(', ')}`, hint);
}

/** The flags that one may have been meant as, or a sentence that says how it is typed. */
function meantOf(flag: string, id: string, known: string[]): string[] {
  const name = flag.replace(/^--?|=.*$/g, '');
  const other = meantByFlag(id, name);
  if (other !== undefined) return [other];
  if (!flag.startsWith('--')) return [];
  const near = nearestNames(name, known);
  // Such as --reply-to for --reply, or --expect for --expect-reply.
  const longer = known.filter((each) => name.startsWith(`${each}-`) || each.startsWith(`${name}-`));
  return (near.length > 0 ? near : longer).map((each) => `--${each}`);
}

/** The parser's message without its colours, its advice and its line breaks. */
function tidy(message: string): string {
  return message
    .replace(/\x1b\[[0-9;]*m/g, '')
    .replace(/\nSee more help with --help$/, '')
    .replace(/^(Parsing --\S+)\s+/, '$1 ')
    .replace(/^The following errors? occurred:\n/, '')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .join('; ');
}

interface Typed {
  /** The command, as short as it can be named. */
  name: string;
  /** Names of the arguments it takes. */
  args: string[];
  flags: CommandLine['flags'];
  /** All that was typed after it. */
  argv: string[];
  /** What of it the parser took for arguments. */
  values: string[];
  /** The boards there are; null where nobody could be asked. */
  boards(): Promise<string[] | null>;
}

/** Arguments that are a text: without quotes it arrives as several words. */
const texts = new Set(['body', 'query', 'question', 'text', 'title']);

const isText = (args: string[]): boolean => args.length === 1 && texts.has(args[0]!);

/** A command line that may have been meant, or what to change about this one; null where that cannot be told. */
async function meantBy({ name, args, flags, argv, values, boards }: Typed): Promise<string | null> {
  if (isText(args)) {
    if (argv.includes('--')) return textBehind({ name, flags, argv, values });
    const [first = '', ...rest] = values;
    const known = mayBeBoard(first) ? await boards() : [];
    if (known === null) return 'Put a text of several words in quotes, and name a board with --board';
    // A board whose name is not quite right: its text would be posted elsewhere, with the name in it.
    const [board] = nearestNames(first, known);
    if (board === undefined) return line(name, argv, values, quoted(values.join(' ')));
    return line(name, argv, values, `--board ${board} ${quoted(rest.join(' '))}`);
  }
  // Such as "inbox read": the command alone does that. Any other word, as in "uninstall codex", may have been to limit it.
  if (args.length === 0 && values.every(meansToShow)) return line(name, argv, values);
  const [value = '', ...more] = values;
  const ofMessage = name === 'read' && more.length === 0 && /^#?\d+$/.test(value);
  return ofMessage ? `service board message ${value.replace('#', '')}` : null;
}

/** The line where all behind `--` is one text, but for flags with which it ends. */
function textBehind({ name, flags, argv, values }: Pick<Typed, 'name' | 'flags' | 'argv' | 'values'>): string {
  const [front, behind] = atDashes(argv);
  const found = behind.findIndex((_, at) => at > 0 && areFlags(behind.slice(at), flags));
  const end = found < 0 ? behind.length : found;
  const before = values.slice(0, values.length - behind.length);
  // One word ahead of the text may be its board.
  const own = before.length === 1 && mayBeBoard(before[0]!) ? [] : before;
  const text = [...own, ...behind.slice(0, end)].join(' ');
  return textLast(line(name, [...front, ...behind.slice(end)], own), [text]);
}

/** Whether words are flags of a command in full, each with its value. */
function areFlags(words: string[], flags: CommandLine['flags']): boolean {
  const [, name = '', value] = /^--([a-z-]+)(=.*)?$/s.exec(words[0] ?? '') ?? [];
  if (!Object.hasOwn(flags, name)) return false;
  const took = flags[name]!.type === 'option' && value === undefined ? 2 : 1;
  return words.length === took || (words.length > took && areFlags(words.slice(took), flags));
}

/** What stands before `--` and what behind it. */
function atDashes(argv: string[]): [string[], string[]] {
  const end = argv.indexOf('--');
  return end < 0 ? [argv, []] : [argv.slice(0, end), argv.slice(end + 1)];
}

/** The same line with what was meant in the place of the first of these words, and without the others. */
function line(name: string, argv: string[], values: string[] = [], meant = ''): string {
  const left = [...values];
  const words = argv.flatMap((word) => {
    const at = left.indexOf(word);
    if (at < 0) return [asTyped(word)];
    left.splice(at, 1);
    return left.length === values.length - 1 && meant !== '' ? [meant] : [];
  });
  return ['service', name, ...words].join(' ');
}

/** A line that goes on with words that may begin with a dash. */
const textLast = (start: string, words: string[]): string => [start, '--', ...words.map(quoted)].join(' ');

const asTyped = (word: string): string => (/^[\w@.,#/:=+-]+$/.test(word) ? word : quoted(word));

/** For a shell: in double quotes where they change nothing. */
export function quoted(text: string): string {
  return /["$`\\!]/.test(text) ? shellArgument(text, null) : `"${text}"`;
}
