/** The help for some words: all commands, a topic or one command. */
import { noSuchCommand } from '../parsing/unknown-command.ts';
import { screenWidth } from '../terminal/table.ts';
import { aliases, type Catalog, topics } from './catalog.ts';
import { commandHelp, overview, type Page, topicHelp } from './help-text.ts';

/** Help text; unknown words are a usage error. */
export function helpText(catalog: Catalog, words: string[], page: Page): string {
  if (words.length === 0) return overview(catalog, page);
  const id = words.join(':');
  const command = catalog.commands[id] ?? catalog.commands[aliases(catalog).get(id) ?? ''];
  if (command) return commandHelp(catalog, command, page);
  if (words.length === 1 && topics[id]) return topicHelp(catalog, id, page);
  throw noSuchCommand(words, catalog);
}

/** The help as it fits into this terminal, or into 80 columns. */
export function helpHere(catalog: Catalog, words: string[], bin: string): string {
  return helpText(catalog, words, { bin, width: screenWidth() });
}
