import { BaseCommand } from '../../cli/base.ts';
import { daemonStatus } from '../../cli/local/daemon.ts';
import { notRunning } from '../../daemon/control/errors.ts';
import { daemonLines } from './lib/status-text.ts';

export default class DaemonStatus extends BaseCommand<typeof DaemonStatus> {
  static override summary = 'Show what the delivery daemon does';
  static override description = 'Its servers, sessions and seats, and what needs somebody’s attention. Starts nothing.';
  static override examples = ['service daemon status', 'service daemon status --json'];
  static override seeAlso = ['daemon logs', 'status', 'doctor'];

  override async run(): Promise<void> {
    const status = await daemonStatus();
    if (!status) throw notRunning();
    this.out.print(status, () => daemonLines(status).join('\n'));
  }
}
