import { z } from 'zod';
import {
  booleanFlag,
  integerFlag,
  listFlag,
  stringFlag,
  WriteCommand,
  waitFlag,
  waitFlags,
  words,
} from '../../cli/base.ts';
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

export default class Ask extends WriteCommand<typeof Ask> {
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
    'going-with': stringFlag('TEXT', 'What is done without an answer; nothing waits'),
    at: stringFlag('TIME', 'When that is done: 14:20, 2h, or a date (default now)', { dependsOn: ['going-with'] }),
    task: stringFlag('T', 'The task it is about (default the current one)', { char: 'T' }),
    'no-task': booleanFlag('About no task', { exclusive: ['task'] }),
    file: listFlag({ char: 'F', helpValue: 'NAME[@V]', description: 'Ask for approval of this file, a path or fil_…' }),
    wait: waitFlag('Wait for the answer'),
    'expect-option': integerFlag('K', 'Exit with 3 unless this option is picked', {
      min: 1,
      max: 4,
      dependsOn: ['wait'],
    }),
    ...waitFlags,
  };

  override async run(): Promise<void> {
    await ask(() => this.onBoard('A'), { ...this.flags, words: this.args.words ?? [] }, this.out);
  }
}
