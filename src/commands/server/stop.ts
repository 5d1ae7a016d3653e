import { BaseCommand, booleanFlag } from '../../cli/base.ts';
import { runtime } from '../../cli/runtime.ts';
import { flag, object } from '../../cli/shapes.ts';

export const json = () => object({ server_stopped: flag, daemon_stopped: flag });

export default class ServerStop extends BaseCommand<typeof ServerStop> {
  static override aliases = ['down'];
  static override summary = "Stop this machine's server and the delivery daemon";
  static override description =
    'Waits until they have ended. Nothing is lost; the next command that needs it starts it again.';
  static override examples = ['service server stop', 'service down'];
  static override seeAlso = ['server start'];

  static override flags = { 'server-only': booleanFlag('Leave the delivery daemon running') };

  override async run(): Promise<void> {
    const { stopLocalServer } = await import('../../local/own-server/start.ts');
    const { stopDaemon } = await import('../daemon/lib/daemon.ts');
    // The server first: where it is a team's, it is not stopped, and neither is the daemon.
    const stopped = await stopLocalServer(runtime());
    const daemon = this.flags['server-only'] ? false : await stopDaemon();
    this.print<typeof json>({ server_stopped: stopped !== null, daemon_stopped: daemon }, () => {
      if (stopped) return `Stopped the local server${daemon ? ' and the daemon' : ''}.`;
      return daemon ? 'Stopped the daemon.' : 'Nothing was running.';
    });
  }
}
