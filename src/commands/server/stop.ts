import { BaseCommand } from '../../cli/base.ts';
import { runtime } from '../../cli/runtime.ts';

export default class ServerStop extends BaseCommand<typeof ServerStop> {
  static override aliases = ['down'];
  static override summary = "Stop this machine's server";
  static override description =
    'Waits until it has ended. Nothing is lost; the next command that needs it starts it again.';
  static override examples = ['service server stop', 'service down'];
  static override seeAlso = ['server start'];

  override async run(): Promise<void> {
    const { stopLocalServer } = await import('../../local/start.ts');
    const stopped = await stopLocalServer(runtime());
    this.out.print({ server_stopped: stopped !== null, daemon_stopped: false }, () =>
      stopped ? 'Stopped the local server.' : 'Nothing was running.',
    );
  }
}
