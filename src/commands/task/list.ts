import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../../cli/base.ts';
import { withTasks } from '../../cli/boards/tasks.ts';
import { limitFlag, listFlags } from '../../cli/flags.ts';
import { listTasks } from './lib/list.ts';

export default class TaskList extends BaseCommand<typeof TaskList> {
  static override summary = 'List the tasks of a board';
  static override description =
    'Tasks that nobody has picked up come first, then those in progress, with whom they wait for. What is closed is left out\nunless it is asked for.';
  static override examples = [
    'service task list',
    'service task list --mine',
    'service task list --state all --newest --limit 20',
    'service task list --all-boards --blocked',
    "service task list --json | jq -r '.tasks[].ref'",
  ];
  static override seeAlso = ['task show', 'task new', 'task start'];
  static override flags = {
    state: Flags.string({
      options: ['active', 'open', 'in_progress', 'done', 'cancelled', 'all'],
      description: 'Only these (default active: open and in progress)',
    }),
    done: Flags.boolean({ description: 'Those that are done', exclusive: ['state'] }),
    mine: Flags.boolean({ description: 'Those you own or help with' }),
    owner: Flags.string({ helpValue: 'NAME', description: 'Those of this member' }),
    blocked: Flags.boolean({ description: 'Those that wait for an answer' }),
    newest: Flags.boolean({ description: 'The newest first' }),
    'all-boards': Flags.boolean({ description: 'Every board you are on' }),
    limit: limitFlag(),
    after: Flags.string({ helpValue: 'POSITION', description: 'The next page, as the last one names it' }),
    all: Flags.boolean({ char: 'A', description: 'Follow every page', exclusive: ['after'] }),
    ...listFlags,
  };

  override async run(): Promise<void> {
    const session = this.flags['all-boards'] ? await this.session('A') : await this.onBoard('A');
    await listTasks(await withTasks(session), this.flags, { out: this.out, times: this.times });
  }
}
