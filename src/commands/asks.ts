import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../cli/base.ts';
import { limitFlag, listFlags } from '../cli/flags.ts';
import { listAsks } from './ask/lib/list.ts';

export default class Asks extends BaseCommand<typeof Asks> {
  static override summary = 'List asks and what became of them';
  static override description =
    'Open ones unless --state says otherwise; a person sees those of every board. Looking at them acknowledges nothing.';
  static override examples = [
    'service asks --can-answer',
    'service asks --from-me --state all --as codex',
    'service asks --task CHK-17 --board general',
  ];
  static override seeAlso = ['answer', 'ask', 'inbox'];
  static override flags = {
    'to-me': Flags.boolean({ description: 'Those addressed to you' }),
    'from-me': Flags.boolean({ description: 'Your own' }),
    'can-answer': Flags.boolean({ description: 'Those you may answer, your agents’ too' }),
    state: Flags.string({
      options: ['open', 'answered', 'withdrawn', 'went_with', 'all'],
      description: 'Only these (default open)',
    }),
    task: Flags.string({ char: 'T', helpValue: 'T', description: 'Those about this task' }),
    limit: limitFlag(),
    after: Flags.string({ helpValue: 'POSITION', description: 'The next page, as the last one names it' }),
    all: Flags.boolean({ char: 'A', description: 'Follow every page', exclusive: ['after'] }),
    ...listFlags,
  };

  override async run(): Promise<void> {
    await listAsks(
      await this.session('A'),
      { ...this.flags, board: this.globals.board },
      {
        out: this.out,
        times: this.times,
      },
    );
  }
}
