import { BaseCommand } from '../../cli/base.ts';
import { flag, object } from '../../cli/shapes.ts';
import { stopDaemon } from './lib/daemon.ts';

export const json = () => object({ stopped: flag });

export default class DaemonStop extends BaseCommand<typeof DaemonStop> {
  static override summary = 'Stop the delivery daemon';
  static override description =
    'Nothing is lost: what waits is handed when it runs again. The next hook or command that needs it starts it. A `service run` ends with it and has to be started again.';
  static override examples = ['service daemon stop'];
  static override seeAlso = ['daemon start', 'server stop'];

  override async run(): Promise<void> {
    const stopped = await stopDaemon();
    this.print<typeof json>({ stopped }, () =>
      stopped
        ? 'Stopped the delivery daemon. The next hook or command that needs it starts it again.'
        : 'It was not running.',
    );
  }
}
