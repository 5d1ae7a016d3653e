import { BaseCommand } from '../../cli/base.ts';
import { runHere } from './lib/daemon.ts';

export default class DaemonRun extends BaseCommand<typeof DaemonRun> {
  static override summary = 'Run the delivery daemon in the foreground';
  static override description =
    'Puts the unread messages of this machine’s seats into the agent sessions that run now. Hooks and commands start it by\nthemselves when they need it, so this is for watching it work. Where one runs already this ends at once.';
  static override examples = ['service daemon', 'service daemon run'];
  static override seeAlso = ['daemon start', 'daemon logs'];

  override async run(): Promise<void> {
    await runHere();
  }
}
