/** Writes docs/cli: the help of every command as pages to read, one for each topic. */
import { type Catalog, type CatalogCommand, topics, visibleCommands } from '../src/cli/help/catalog.ts';
import { argsOf, flagGroups, flagWord, usageLine } from '../src/cli/help/help-text.ts';
import { topicsOf } from './man-pages.ts';

/** All pages by file name. @param shapes of the commands that print JSON, by their ids */
export function docPages(catalog: Catalog, shapes: Record<string, unknown>): Record<string, string> {
  const section = (command: CatalogCommand) => sectionOf(command, shapes[command.id] !== undefined);
  const all = visibleCommands(catalog);
  const single = all.filter(({ id }) => !id.includes(':'));
  const pages: Record<string, string> = {
    'README.md': `${index(catalog, all, single)}\n`,
    'commands.md': `${['# Commands of one word', ...single.map(section)].join('\n\n')}\n`,
  };
  for (const topic of topicsOf(catalog)) {
    const commands = visibleCommands(catalog, topic).filter(({ id }) => id.includes(':'));
    const title = `# service ${topic}\n\n${topics[topic]?.summary ?? ''}.`;
    pages[`${topic}.md`] = `${[title, ...commands.map(section)].join('\n\n')}\n`;
  }
  return pages;
}

function index(catalog: Catalog, all: CatalogCommand[], single: CatalogCommand[]): string {
  const link = (command: CatalogCommand, page: string): string =>
    `- [service ${words(command)}](${page}.md#${anchor(command)}): ${command.summary}`;
  return [
    '# The command line',
    'Made from the commands themselves, as are `service help`, the man pages and the completion. What each prints with `--json` is described in `schemas/cli`, as JSON Schema; records that several commands print stand in `schemas/cli/definitions.json`.',
    ...topicsOf(catalog).map((topic) =>
      [
        `## ${topic}\n\n${topics[topic]?.summary ?? ''}.\n`,
        ...visibleCommands(catalog, topic)
          .filter(({ id }) => id.includes(':'))
          .map((command) => link(command, topic)),
      ].join('\n'),
    ),
    ['## Commands of one word\n', ...single.map((command) => link(command, 'commands'))].join('\n'),
    [
      '## Flags of every command\n',
      table(flagGroups(all[0]!).global.map((flag) => [flagWord(flag).trim(), flag.description ?? ''])),
    ].join('\n'),
  ].join('\n\n');
}

function sectionOf(command: CatalogCommand, hasSchema: boolean): string {
  const { own } = flagGroups(command);
  const { id, summary, description, aliases, examples, seeAlso } = command;
  const rows: [string, string][] = [
    ...argsOf(command).map((arg): [string, string] => [arg.name.toUpperCase(), arg.description ?? '']),
    ...own.map((flag): [string, string] => [flagWord(flag).trim(), flag.description ?? '']),
  ];
  const also = (seeAlso ?? []).map((other) => `\`service ${other}\``).join(', ');
  return [
    `## service ${words(command)}`,
    `${summary}.`,
    code([`service ${usageLine(command)}`]),
    description ?? '',
    aliases.length > 0
      ? `Short: ${aliases.map((alias) => `\`service ${alias.replaceAll(':', ' ')}\``).join(', ')}`
      : '',
    rows.length > 0 ? table(rows) : '',
    code(examples ?? []),
    hasSchema ? `JSON: [schema](../../schemas/cli/${id.replaceAll(':', '-')}.json)` : '',
    also ? `See also: ${also}` : '',
  ]
    .filter(Boolean)
    .join('\n\n');
}

const words = ({ id }: CatalogCommand): string => id.replaceAll(':', ' ');
const anchor = (command: CatalogCommand): string => `service-${words(command).replaceAll(' ', '-')}`;
const code = (lines: readonly string[]): string => ['```sh', ...lines, '```'].join('\n');
const table = (rows: [string, string][]): string =>
  ['| | |', '|---|---|', ...rows.map(([left, right]) => `| \`${cell(left)}\` | ${cell(right)} |`)].join('\n');
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
