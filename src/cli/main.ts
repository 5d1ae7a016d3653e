/** Entry point of the command line: finds the command, loads only its file, runs it and exits with its code. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BaseCommand } from './base.ts';
import { choose } from './dispatch.ts';
import { EXIT, report } from './errors.ts';
import { commandNames, type Names, readCatalog } from './help/catalog.ts';
import { modeOf } from './output.ts';
import { type Runtime, setRuntime } from './runtime.ts';
import { installSignals } from './signals.ts';

type CommandClass = (new (argv: string[], config: never) => BaseCommand) & { id: string };
type Loaders = Record<string, () => Promise<{ default: unknown }>>;

/** The commands: how they are called, and what loads the file of each, by its id. */
interface Commands {
  names: Names;
  loaders: Loaders;
}

/** Runs the program; `entryUrl` is the file it was started by. A build brings the commands along. */
export async function main(entryUrl: string, built?: Commands): Promise<void> {
  installSignals();
  const argv = process.argv.slice(2);
  const failed = (error: unknown) => report(error, modeOf(argv, process.env), process.env.SERVICE_DEBUG === '1');
  process.on('uncaughtException', (error) => process.exit(failed(error)));
  const code = await run(entryUrl, argv, built).catch(failed);
  // Everything written must be out before the process ends.
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  process.exit(code);
}

async function run(entryUrl: string, argv: string[], built?: Commands): Promise<number> {
  const self = setRuntime(entryUrl);
  const { names, loaders } = built ?? sourceCommands(self);
  const chosen = choose(argv, names);
  if (chosen.kind === 'command') return runCommand(self, chosen, loaders);
  const catalog = readCatalog(self.root);
  if (chosen.kind === 'help') {
    const { helpHere } = await import('./help/help-text.ts');
    const { paged } = await import('./terminal/pager.ts');
    await paged(helpHere(catalog, chosen.of, self.bin), argv.includes('--no-pager'));
    return EXIT.done;
  }
  const { unknownCommand } = await import('./parsing/unknown-command.ts');
  throw unknownCommand(argv, chosen.words, catalog);
}

/** In development the commands run from their sources. */
function sourceCommands({ root }: Runtime): Commands {
  const catalog = readCatalog(root);
  const loaders = Object.values(catalog.commands).map(({ id, relativePath }) => [
    id,
    () => import(pathToFileURL(join(root, ...relativePath)).href),
  ]);
  return { names: commandNames(catalog), loaders: Object.fromEntries(loaders) };
}

async function runCommand(
  self: Runtime,
  { id, argv }: { id: string; argv: string[] },
  loaders: Loaders,
): Promise<number> {
  const Command = (await loaders[id]!()).default as CommandClass;
  Command.id = id;
  // The framework's configuration object serves plugins and hooks, which this program has none of.
  return new Command(argv, { bin: self.bin } as never).perform();
}
