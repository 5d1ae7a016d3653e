import { BaseCommand, words } from '../cli/base.ts';
import { EXIT, Exit } from '../cli/errors.ts';
import { runtime } from '../cli/runtime.ts';
import { show } from '../cli/terminal/terminal.ts';

const LIMIT_MS = 300;

export default class Complete extends BaseCommand<typeof Complete> {
  static override hidden = true;
  static override strict = false;
  static override summary = 'Give a shell the names that could stand next';
  static override description = 'For the scripts of service completion: one name per line, or nothing.';
  static override examples = ['service complete -- board archive ""'];
  static override mayBeEmpty = ['words'];
  static override args = { words: words('What was typed, the word to complete last') };

  override async run(): Promise<void> {
    this.out.quiet = true;
    const late = new Promise<string[]>((resolve) => setTimeout(() => resolve([]), LIMIT_MS).unref());
    // Whatever goes wrong, the person is typing: nothing is said.
    const found = await Promise.race([this.names().catch(() => []), late]);
    // The shells read the names as words of theirs.
    const names = found.filter((name) => /^[\w@.:/-]+$/.test(name));
    if (names.length > 0) show(process.stdout, `${names.join('\n')}\n`);
    throw new Exit(EXIT.done);
  }

  private async names(): Promise<string[]> {
    const { askedFor, cachedValues, namesOf } = await import('./completion/lib/values.ts');
    const typed = this.argv[0] === '--' ? this.argv.slice(1) : this.argv;
    const asked = askedFor(typed);
    if (!asked) return [];
    if (asked.kind === 'servers') {
      const { listServers } = await import('./servers/lib/servers.ts');
      return listServers().servers.map(({ name }) => name);
    }
    if (asked.kind === 'harnesses') {
      const { all } = await (await import('../harness/load.ts')).loadProfiles(runtime().folders.config);
      return all.filter(({ install }) => install.length > 0).map(({ harness }) => harness);
    }
    if (asked.kind === 'agents') return (await import('../cli/session/own-seats.ts')).savedAgents();
    const { server, board, as } = asked;
    Object.assign(this.globals, { server, board, as });
    const session = () => this.session('A', { autostart: false });
    return cachedValues(asked, () =>
      namesOf(asked.kind, { session, board: () => this.onBoard('A', { autostart: false }) }),
    );
  }
}
