import * as Flags from '@oclif/core/flags';
import { required } from '../../cli/args.ts';
import { BaseCommand } from '../../cli/base.ts';
import { limitFlag, listFlag, listFlags } from '../../cli/flags.ts';
import { searchKinds } from '../../contract/search-kinds.ts';
import { type SearchOptions, search } from './lib/search.ts';

export default class BoardSearch extends BaseCommand<typeof BoardSearch> {
  static override aliases = ['search'];
  static override summary = 'Find messages, tasks and files by their words';
  static override description =
    'Words are looked for together; -word leaves out, "a phrase" stands in quotes of its own, begin* is the beginning of a word.\nSeveral words are one argument. Upper and lower case and accents do not count.';
  static override examples = [
    'service board search "deploy failed -flaky"',
    'service search retry* --from codex --since 2d',
    'service search --all-boards invoice --sort relevance',
  ];
  static override seeAlso = ['board read', 'board thread'];
  static override args = { query: required('What to look for') };
  static override flags = {
    'all-boards': Flags.boolean({ description: 'Every board you are on', exclusive: ['board'] }),
    kind: listFlag({ options: searchKinds, description: 'Only these, with commas between' }),
    from: Flags.string({ helpValue: 'NAME', description: 'Only messages of this member', exclusive: ['all-boards'] }),
    task: Flags.string({
      char: 'T',
      helpValue: 'T',
      description: 'Only what is about this task',
      exclusive: ['all-boards'],
    }),
    since: Flags.string({ helpValue: 'TIME', description: 'From this time on: 2d, or 2026-03-02T09:00:00Z' }),
    until: Flags.string({ helpValue: 'TIME', description: 'Before this time' }),
    sort: Flags.string({ options: ['newest', 'relevance'], description: 'What comes first (default newest)' }),
    limit: limitFlag(50),
    after: Flags.string({ helpValue: 'POSITION', description: 'The next page, as the last one names it' }),
    all: Flags.boolean({ char: 'A', description: 'Follow every page', exclusive: ['after'] }),
    ...listFlags,
  };

  override async run(): Promise<void> {
    const session = this.flags['all-boards'] ? await this.session('P') : await this.onBoard('A');
    const request: SearchOptions = { ...this.flags, query: this.args.query };
    await search(session, request, { out: this.out, times: this.times });
  }
}
