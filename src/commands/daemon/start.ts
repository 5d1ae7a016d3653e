import { BaseCommand } from '../../cli/base.ts';
import { startDaemon } from './lib/daemon.ts';
import { startedDaemon } from './lib/shapes.ts';

export const json = () => startedDaemon;

export default class DaemonStart extends BaseCommand<typeof DaemonStart> {
  static override summary = 'Start the delivery daemon in the background';
  static override description = 'Does nothing when it runs already; replaces one that an older version left running.';
  static override examples = ['service daemon start'];
  static override seeAlso = ['daemon stop', 'daemon status'];

  override async run(): Promise<void> {
    const record = await startDaemon();
    this.print<typeof json>(record, () => `The delivery daemon runs (pid ${record.pid}).`);
  }
}
