/** Explains surplus arguments and suggests what was probably intended. */
import { shellArgument } from '../../contract/text.ts';
import { mayBeBoard } from './parsing.ts';
import { nearestNames } from './spelling.ts';

interface Typed {
  /** The command, as short as it can be named. */
  name: string;
  /** Names of the arguments it takes. */
  args: string[];
  /** All that was typed after it. */
  argv: string[];
  /** What of it the parser took for arguments. */
  values: string[];
  /** The boards there are; null where nobody could be asked. */
  boards(): Promise<string[] | null>;
}

/** Arguments that are a text: without quotes it arrives as several words. */
const texts = new Set(['body', 'query', 'question', 'text', 'title']);

/** A command line that may have been meant, or what to change about this one; null where that cannot be told. */
export async function meantBy({ name, args, argv, values, boards }: Typed): Promise<string | null> {
  if (args.length === 1 && texts.has(args[0]!)) {
    const [first = '', ...rest] = values;
    const known = mayBeBoard(first) ? await boards() : [];
    if (known === null) return 'Put a text of several words in quotes, and name a board with --board';
    // A board whose name is not quite right: its text would be posted elsewhere, with the name in it.
    const [board] = nearestNames(first, known);
    if (board === undefined) return line(name, argv, values, quoted(values.join(' ')));
    return line(name, argv, values, `--board ${board} ${quoted(rest.join(' '))}`);
  }
  const [value = '', ...more] = values;
  const ofMessage = name === 'read' && more.length === 0 && /^#?\d+$/.test(value);
  return ofMessage ? `service board message ${value.replace('#', '')}` : null;
}

/** The same line with what was meant in the place of the first word of it. */
function line(name: string, argv: string[], values: string[], meant: string): string {
  const left = [...values];
  const words = argv.flatMap((word) => {
    const at = left.indexOf(word);
    if (at < 0) return [/^[\w@.,#/:=+-]+$/.test(word) ? word : quoted(word)];
    left.splice(at, 1);
    return left.length === values.length - 1 ? [meant] : [];
  });
  return ['service', name, ...words].join(' ');
}

/** For a shell: in double quotes where they change nothing. */
export function quoted(text: string): string {
  return /["$`\\!]/.test(text) ? shellArgument(text, null) : `"${text}"`;
}
