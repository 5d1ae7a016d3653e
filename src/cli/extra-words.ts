/** Words too many on a command line: what was probably meant by them. */

export interface Typed {
  /** The command, as short as it can be named. */
  name: string;
  /** Names of the arguments it takes. */
  args: string[];
  /** All that was typed after it. */
  argv: string[];
  /** What of it the parser took for arguments. */
  values: string[];
}

/** Arguments that are a text: whoever forgets the quotes types several words. */
const texts = new Set(['body', 'query', 'question', 'text', 'title']);
/** Commands of boards that are not about one board. */
const aboutNone = new Set(['board list', 'boards', 'board link', 'board unlink', 'board templates']);

/** A command line that may have been meant, or null. */
export function meantBy({ name, args, argv, values }: Typed): string | null {
  if (args.length === 1 && texts.has(args[0]!)) return line(name, argv, values, quoted(values.join(' ')));
  if (args.length > 0 || values.length !== 1) return null;
  const [value] = values as [string];
  if (name === 'read' && /^#?\d+$/.test(value)) return `service board message ${value.replace('#', '')}`;
  const named = /^[a-z][a-z0-9-]*$/.test(value) && /^(board |read$|watch$|members$)/.test(name) && !aboutNone.has(name);
  return named ? line(name, argv, values, `--board ${value}`) : null;
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
function quoted(text: string): string {
  return /["$`\\!]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`;
}
