/** The pages about commands: one of all, one for each topic. */
import { type Catalog, type CatalogCommand, topics, visibleCommands } from '../src/cli/help/catalog.ts';
import { argsOf, flagGroups, flagWord, usageLine } from '../src/cli/help/help-text.ts';
import { entry, literal, plain, section, title } from './roff.ts';

/** First words of commands, in order. Commands of one word are told on the main page. */
export function topicsOf(catalog: Catalog): string[] {
  return [
    ...new Set(
      visibleCommands(catalog)
        .filter((c) => c.id.includes(':'))
        .map((c) => c.id.split(':')[0]!),
    ),
  ];
}

/** service(1) */
export function mainPage(catalog: Catalog): string {
  const all = visibleCommands(catalog);
  const names = topicsOf(catalog);
  const lines = [
    title('service', 1, catalog.version),
    ...section('NAME', ['service, board\\-service \\- shared boards for people and their software agents']),
    ...section('SYNOPSIS', ['.B service', '.I command', '[flags]']),
    ...section('DESCRIPTION', [
      plain(
        'Boards hold messages of people and their agents, in a record that nobody can change unnoticed. On one machine no\nserver has to be set up: the first command that needs it starts it. Both names are the same program.',
      ),
    ]),
    ...section(
      'COMMANDS',
      all.flatMap((c) => entry(c.id.replaceAll(':', ' '), c.summary ?? '')),
    ),
    ...section('GLOBAL FLAGS', flagsOf(flagGroups(all[0]!).global)),
    ...all.filter((c) => !c.id.includes(':')).flatMap(commandLines),
    ...section('SEE ALSO', [
      [...names.map((n) => `service\\-${n}(1)`), 'service\\-environment(7)', 'service\\-exit\\-codes(7)'].join(', '),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

/** service-<topic>(1) */
export function topicPage(catalog: Catalog, topic: string): string {
  const commands = visibleCommands(catalog, topic);
  const lines = [
    title(`service-${topic}`, 1, catalog.version),
    ...section('NAME', [`service\\-${topic} \\- ${plain(topics[topic]?.summary ?? topic)}`]),
    ...section(
      'SYNOPSIS',
      commands.flatMap((c) => [plain(`service ${usageLine(c)}`), '.br']),
    ),
    ...commands.flatMap(commandLines),
    ...section('SEE ALSO', ['service(1), service\\-environment(7), service\\-exit\\-codes(7)']),
  ];
  return `${lines.join('\n')}\n`;
}

function commandLines(command: CatalogCommand): string[] {
  const { own } = flagGroups(command);
  const aliases = command.aliases.map((alias) => `service ${alias.replaceAll(':', ' ')}`).join(', ');
  return [
    ...section(plain(`service ${command.id.replaceAll(':', ' ')}`).toUpperCase(), [plain(`${command.summary}.`)]),
    '.PP',
    plain(command.description ?? ''),
    ...(aliases ? ['.PP', plain(`Short: ${aliases}`)] : []),
    ...argsOf(command).flatMap((arg) => entry(arg.name.toUpperCase(), arg.description ?? '')),
    ...flagsOf(own),
    ...(command.examples?.length ? ['.PP', 'Examples:'] : []),
    ...literal(command.examples ?? []),
  ];
}

function flagsOf(flags: Parameters<typeof flagWord>[0][]): string[] {
  return flags.flatMap((flag) => entry(flagWord(flag).trim(), flag.description ?? ''));
}
