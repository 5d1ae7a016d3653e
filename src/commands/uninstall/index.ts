import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../../cli/base.ts';
import { confirmFlags } from '../../cli/flags.ts';
import { removalLine } from '../../cli/local/harness-setup.ts';
import { requireOutside } from '../../cli/session/here.ts';
import { type Leaving, leave, leavingText } from './lib/uninstall.ts';

export default class Uninstall extends BaseCommand<typeof Uninstall> {
  static override summary = 'Take away what init set up, and stop what runs here';
  static override description =
    'Our hooks come out of the settings of the agent programs, which are then byte for byte as they were; what you have\nedited since is kept and named. --data also deletes everything that this program keeps on this machine, boards of its\nown server and keys included.';
  static override examples = ['service uninstall --dry-run', 'service uninstall --yes', 'service uninstall --data'];
  static override seeAlso = ['init', 'server stop', 'logout'];
  static override flags = {
    data: Flags.boolean({ description: 'Also delete configuration, data, state and cache' }),
    'dry-run': Flags.boolean({ description: 'Only say what would be done' }),
    ...confirmFlags,
  };

  override async run(): Promise<void> {
    requireOutside('service uninstall');
    const { data = false, 'dry-run': dry = false, yes = false } = this.flags;
    const plan: Leaving = await leave({ data, apply: false });
    if (!dry) await this.confirm(`${leavingText(plan)}\n${question(data)}`, yes);
    const record = dry ? plan : await leave({ data, apply: true });
    this.out.print(record, () => [...record.files.map(removalLine), leavingText(record)].filter(Boolean).join('\n'));
  }
}

const question = (data: boolean): string =>
  data ? 'Take all of that away, and delete everything kept on this machine for good?' : 'Take all of that away?';
