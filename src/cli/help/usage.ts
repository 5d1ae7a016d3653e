/** How a command is typed, on one line: in its help, and in the hint of a line that lacks something. */
interface Argument {
  name: string;
  description?: string | undefined;
  required?: boolean | undefined;
  multiple?: boolean | undefined;
}

export interface Usable {
  id: string;
  args: Record<string, Argument>;
  /** Whether it may begin with the name of its board. */
  boardFirst?: boolean | undefined;
  /** What stands behind the command's name, where its arguments alone do not say it. */
  usage?: string | undefined;
}

/** `board post [BODY] [flags]` */
export function usageLine(command: Usable): string {
  const words = command.usage === undefined ? argsOf(command).map(argWord) : [command.usage];
  return [command.id.replaceAll(':', ' '), ...words, '[flags]'].join(' ');
}

/** What a command takes, the board that it may begin with included. */
export function argsOf({ args, boardFirst }: Pick<Usable, 'args' | 'boardFirst'>): Argument[] {
  const board = { name: 'board', description: 'The board, instead of --board' };
  return [...(boardFirst ? [board] : []), ...Object.values(args)];
}

/** How an argument is written in a usage line. */
function argWord(arg: Argument): string {
  const name = `${arg.name.toUpperCase()}${arg.multiple ? '…' : ''}`;
  return arg.required ? name : `[${name}]`;
}

/** The hint of a command line that lacks something: how the command is typed, and an example. */
export function usageHint(command: Usable, examples: readonly string[] = []): string {
  const usage = `Usage: service ${usageLine(command)}`;
  return examples[0] === undefined ? usage : `${usage}; such as: ${examples[0]}`;
}
