import { BaseCommand } from '../../cli/base.ts';
import { refuseStartInSandbox } from '../../cli/session/here.ts';
import { startDaemon, stopDaemon } from './lib/daemon.ts';
import { startedDaemon } from './lib/shapes.ts';

export const json = () => startedDaemon;

export default class DaemonRestart extends BaseCommand<typeof DaemonRestart> {
  static override summary = 'Stop the delivery daemon and start it again';
  static override description = 'Sessions that wait keep their place.';
  static override examples = ['service daemon restart'];
  static override seeAlso = ['daemon status'];

  override async run(): Promise<void> {
    refuseStartInSandbox();
    await stopDaemon(true);
    const record = await startDaemon();
    this.print<typeof json>(record, () => `The delivery daemon runs (pid ${record.pid}).`);
  }
}
