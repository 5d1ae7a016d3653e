/** The help for some words: all commands, a topic or one command. */
import { noSuchCommand } from '../unknown.ts';
import { aliases, type Catalog, topics } from './catalog.ts';
import { commandHelp, overview, topicHelp } from './render.ts';

/** Help text; unknown words are a usage error. */
export function helpText(catalog: Catalog, words: string[], bin: string): string {
  if (words.length === 0) return overview(catalog, bin);
  const id = words.join(':');
  const command = catalog.commands[id] ?? catalog.commands[aliases(catalog).get(id) ?? ''];
  if (command) return commandHelp(command, bin);
  if (words.length === 1 && topics[id]) return topicHelp(catalog, id, bin);
  throw noSuchCommand(words, catalog);
}
