import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../../cli/base.ts';
import { numberFlag } from '../../cli/flags.ts';
import { watch, watchAll } from './lib/watch.ts';

export default class BoardWatch extends BaseCommand<typeof BoardWatch> {
  static override aliases = ['watch'];
  static override stream = true;
  static override summary = 'Show messages as they are posted';
  static override description =
    'The newest ones first, then each new one, until it is interrupted. A connection that breaks is made again and\nnothing is shown twice or left out. --all-boards shows every board of yours in one stream, also those you come onto\nmeanwhile. With --json: one object per line.';
  static override examples = [
    'service board watch',
    'service watch --from codex',
    'service watch --since 40 --json',
    'service watch --all-boards',
  ];
  static override seeAlso = ['board read'];
  static override flags = {
    since: { ...numberFlag('Begin after this number'), exclusive: ['all-boards'] },
    'all-boards': Flags.boolean({ description: 'Every board you are on', exclusive: ['board'] }),
    limit: Flags.integer({
      char: 'n',
      min: 0,
      max: 200,
      default: 20,
      helpValue: 'N',
      description: 'How many to begin with',
    }),
    from: Flags.string({ helpValue: 'NAME', description: 'Only messages of this member' }),
    role: Flags.string({ helpValue: 'ROLE', description: 'Only messages of this role' }),
    ndjson: Flags.boolean({ description: 'Print one JSON object per line' }),
  };

  override async run(): Promise<void> {
    const show = { out: this.out, times: this.times };
    if (this.flags['all-boards']) await watchAll(await this.session('P'), this.flags, show);
    else await watch(await this.onBoard('A'), this.flags, show);
  }
}
