/** What can be typed where, from the manifest: the data every completion script is made of. */
import type { Catalog, CatalogCommand, CatalogFlag } from '../../../cli/help/catalog.ts';
import { kindOfArgument, kindOfFlag } from './kinds.ts';

/** In place of values: they are asked of `service complete`. */
export const ASK = '?';

export interface CompletionTable {
  /** Words so far to the next words: '' to `board`, `board` to `post`. */
  words: Map<string, string[]>;
  /** Words of a command to its flags. */
  flags: Map<string, string[]>;
  /** `board read --has`, or `board archive` for its argument, to the values, or to ASK. */
  values: Map<string, string[]>;
  /** Flags that take a value, wherever they stand. */
  takers: string[];
}

/** The table of a manifest, sorted, so that the same manifest gives the same script. */
export function completionTable(catalog: Catalog): CompletionTable {
  const table: CompletionTable = { words: new Map(), flags: new Map(), values: new Map(), takers: [] };
  const takers = new Set<string>();
  for (const command of Object.values(catalog.commands).filter(({ hidden }) => !hidden))
    for (const id of [command.id, ...command.aliases]) addCommand(table, takers, id.split(':'), command);
  for (const [path, words] of table.words) table.words.set(path, [...new Set(words)].sort());
  table.takers = [...takers].sort();
  return table;
}

function addCommand(table: CompletionTable, takers: Set<string>, words: string[], command: CatalogCommand): void {
  for (const [i, word] of words.entries()) {
    const path = words.slice(0, i).join(' ');
    table.words.set(path, [...(table.words.get(path) ?? []), word]);
  }
  const name = words.join(' ');
  const flags = Object.values(command.flags).filter(({ hidden }) => !hidden);
  table.flags.set(name, flags.map((flag) => `--${flag.name}`).sort());
  for (const flag of flags.filter(({ type }) => type === 'option')) {
    for (const form of formsOf(flag)) {
      takers.add(form);
      const values = flag.options ?? (kindOfFlag(flag.name) ? [ASK] : []);
      if (values.length > 0) table.values.set(`${name} ${form}`, values);
    }
  }
  const first = Object.values(command.args)[0];
  const values = first?.options ?? (kindOfArgument(command) ? [ASK] : []);
  if (values.length > 0) table.values.set(name, values);
}

const formsOf = (flag: CatalogFlag) => [`--${flag.name}`, ...(flag.char ? [`-${flag.char}`] : [])];
