import * as Flags from '@oclif/core/flags';
import { z } from 'zod';
import { words } from '../../cli/args.ts';
import { BaseCommand } from '../../cli/base.ts';
import { listFlag, waitFlags, writeFlags } from '../../cli/flags.ts';
import { flag, message, object, postRecipients, text } from '../../cli/shapes.ts';
import { ask } from './lib/ask.ts';

export const json = () => {
  const given = z.strictObject({
    option: z.int().nullable(),
    option_text: text.nullable(),
    body: text,
    by: message.shape.from,
    withdrawn: z.literal(true).optional(),
  });
  return object({ message, recipients: postRecipients, answer: given.optional(), timed_out: flag.optional() });
};

export default class Ask extends BaseCommand<typeof Ask> {
  static override summary = 'Ask somebody, with options to pick from';
  static override description =
    'An agent that names nobody asks its person. The task it is about counts as Blocked until there is an answer; with\n--going-with it does not wait: at that time the agent goes on, unless somebody objects. With --file the one asked, a person,\napproves those versions by picking the first option.';
  static override usage = '[@NAME] QUESTION [OPTION…]';
  static override examples = [
    'service ask @maya "Which region?" "eu-west" "us-east"',
    'service ask "Cap at a minute or at ten?" "A minute" "Ten" --as codex',
    'service ask @maya "Delete the old table?" "Yes" "No" --wait 1800 --expect-option 1',
    'service ask @maya "Which region?" --going-with "eu-west" --at 2h --as codex',
    'service ask @maya "Good to publish?" "Approve" "Not yet" --file notes/api.md@4',
  ];
  static override seeAlso = ['asks', 'answer', 'withdraw'];
  static override mayBeEmpty = ['words'];
  static override args = { words: words('[@NAME] QUESTION [OPTION…]: - reads the question from standard input') };
  static override flags = {
    'going-with': Flags.string({ helpValue: 'TEXT', description: 'What is done without an answer; nothing waits' }),
    at: Flags.string({
      helpValue: 'TIME',
      description: 'When that is done: 14:20, 2h, or a date (default now)',
      dependsOn: ['going-with'],
    }),
    task: Flags.string({ char: 'T', helpValue: 'T', description: 'The task it is about (default the current one)' }),
    'no-task': Flags.boolean({ description: 'About no task', exclusive: ['task'] }),
    file: listFlag({ char: 'F', helpValue: 'NAME[@V]', description: 'Ask for approval of this file, a path or fil_…' }),
    wait: Flags.integer({ char: 'w', min: 0, max: 86_400, helpValue: 'SECONDS', description: 'Wait for the answer' }),
    'expect-option': Flags.integer({
      min: 1,
      max: 4,
      helpValue: 'K',
      description: 'Exit with 3 unless this option is picked',
      dependsOn: ['wait'],
    }),
    ...waitFlags,
    ...writeFlags,
  };

  override async run(): Promise<void> {
    await ask(() => this.onBoard('A'), { ...this.flags, words: this.args.words ?? [] }, this.out);
  }
}
