/** Help as text, from the same data as the man pages. */
import {
  type Catalog,
  type CatalogArg,
  type CatalogCommand,
  type CatalogFlag,
  topics,
  visibleCommands,
} from './catalog.ts';

const INDENT = '  ';

/** `board post [BODY] [flags]` */
export function usageLine(command: CatalogCommand): string {
  const args = Object.values(command.args).map(argWord);
  return [command.id.replaceAll(':', ' '), ...args, '[flags]'].join(' ');
}

/** How an argument is written in a usage line. */
export function argWord(arg: CatalogArg): string {
  const name = `${arg.name.toUpperCase()}${arg.multiple ? '…' : ''}`;
  return arg.required ? name : `[${name}]`;
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
export function commandHelp(command: CatalogCommand, bin: string): string {
  const { own, global } = flagGroups(command);
  const args = Object.values(command.args);
  const sections = [
    command.summary ?? '',
    section('USAGE', [`$ ${bin} ${usageLine(command)}`]),
    section('ARGUMENTS', columns(args.map((arg) => [arg.name.toUpperCase(), arg.description ?? '']))),
    section('FLAGS', columns(own.map((flag) => [flagWord(flag), flag.description ?? '']))),
    section('GLOBAL FLAGS', columns(global.map((flag) => [flagWord(flag), flag.description ?? '']))),
    section('DESCRIPTION', (command.description ?? '').split('\n')),
    section(
      'ALIASES',
      command.aliases.map((alias) => `$ ${bin} ${alias.replaceAll(':', ' ')}`),
    ),
    section(
      'EXAMPLES',
      (command.examples ?? []).map((example) => `$ ${forBin(example, bin)}`),
    ),
    section('SEE ALSO', [(command.seeAlso ?? []).map((other) => `${bin} ${other}`).join(', ')].filter(Boolean)),
  ];
  return sections.filter(Boolean).join('\n\n');
}

/** The commands below a topic. */
export function topicHelp(catalog: Catalog, topic: string, bin: string): string {
  const { summary, runs } = topics[topic] ?? { summary: '' };
  const rows = visibleCommands(catalog, topic).map((c): [string, string] => [
    c.id.replaceAll(':', ' '),
    c.summary ?? '',
  ]);
  const alone = runs ? [`${bin} ${topic} alone runs ${bin} ${runs.replaceAll(':', ' ')}.`] : [];
  const usage = section('USAGE', [`$ ${bin} ${topic} COMMAND`]);
  return [summary, usage, section('COMMANDS', columns(rows)), ...alone].join('\n\n');
}

/** The map of all commands: what `service` alone prints. */
export function overview(catalog: Catalog, bin: string): string {
  const all = visibleCommands(catalog);
  const single = all.filter((c) => !c.id.includes(':'));
  const groups = Object.entries(topics).map(([topic, { summary }]) => {
    const rows = visibleCommands(catalog, topic).map((c): [string, string] => [
      c.id.replaceAll(':', ' '),
      c.summary ?? '',
    ]);
    return section(summary.toUpperCase(), columns(rows));
  });
  const rest = section('MORE', columns(single.map((c) => [c.id, c.summary ?? ''])));
  const start = section('START HERE', [
    `$ ${bin} board create general      a board on this machine; the server starts by itself`,
    `$ ${bin} say "Hello"               post to it`,
    `$ ${bin} read                      read it`,
  ]);
  return [
    `Shared boards for people and their software agents. Version ${catalog.version}.`,
    start,
    ...groups,
    rest,
    `Help on one: ${bin} help board post, or ${bin} board post --help`,
  ].join('\n\n');
}

/** An example names the program as it was called. */
export function forBin(example: string, bin: string): string {
  return bin === 'service' ? example : example.replace(/(^|\| |&& )service /g, `$1${bin} `);
}

function section(title: string, lines: string[]): string {
  if (lines.length === 0 || (lines.length === 1 && lines[0] === '')) return '';
  return [title, ...lines.map((line) => (line ? INDENT + line : ''))].join('\n');
}

function columns(rows: [string, string][]): string[] {
  const width = Math.min(36, Math.max(0, ...rows.map(([left]) => left.length)));
  return rows.flatMap(([left, right]) =>
    left.length > width ? [left, `${' '.repeat(width)}  ${right}`] : [`${left.padEnd(width)}  ${right}`.trimEnd()],
  );
}
