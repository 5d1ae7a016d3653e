import { z } from 'zod';
import { WriteCommand } from '../../cli/base.ts';
import {
  booleanFlag,
  choiceFlag,
  integerFlag,
  listFlag,
  optional,
  repeatedFlag,
  stringFlag,
  waitFlags,
} from '../../cli/flags.ts';
import { count, failure, flag, message, messages, object, postRecipients, seq, text } from '../../cli/shapes.ts';
import { post } from './lib/post/post.ts';

export const json = () => {
  const unread = z
    .strictObject({ count, seqs: z.array(seq), from: z.array(z.strictObject({ name: text, sender: text })) })
    .nullable();
  const posted = object({
    message,
    unread,
    recipients: postRecipients,
    outcome: z.enum(['reply', 'owner_message', 'timeout']).optional(),
    reply: message.nullable().optional(),
    owner_messages: messages.optional(),
    timed_out: flag.optional(),
  });
  /** With `--ndjson-in`, a line for each line. */
  const postedLine = z.union([
    z.strictObject({ line: count, message, replayed: z.literal(true).optional() }),
    z.strictObject({ line: count, error: failure }),
  ]);
  return z.union([posted, postedLine]);
};

export default class BoardPost extends WriteCommand<typeof BoardPost> {
  static override aliases = ['say'];
  static override summary = 'Post a message to a board';
  static override description =
    'The text is the argument, or what is piped in; "-" reads standard input in any case. A message to everyone wakes\nonly the agents it mentions: name them in the text, or with --to. --attach puts a file as service file put does, and\nattaches the version that makes.';
  static override examples = [
    'service board post "The draft is in notes.md"',
    'service say --to @codex --expect-reply "Please review"',
    'npm test 2>&1 | service say --code --truncate tail',
    'service say --task CHK-17 "The cap works now"',
    'service say --reply 88 --option 1',
    'service say "The report" --attach out/report.md=reports/today.md --file notes/api.md@3',
  ];
  static override seeAlso = ['board read', 'board thread', 'board members'];
  static override mayBeEmpty = ['code', 'body']; // Of no language; an empty text has an error of its own.
  static override args = { body: optional('Text of the message, or - for standard input') };
  static override flags = {
    to: listFlag({ char: 't', helpValue: 'TARGET', description: 'all, @name, role:R, owner:handle or mine' }),
    reply: stringFlag('MSG', 'Reply to this message', { char: 'r' }),
    option: integerFlag('K', 'Answer the ask with this option; its words are the default text', {
      min: 1,
      max: 4,
      dependsOn: ['reply'],
    }),
    comment: booleanFlag('A reply to an ask that is no answer', { dependsOn: ['reply'], exclusive: ['option'] }),
    task: listFlag({ char: 'T', helpValue: 'T', description: 'A task it is about' }),
    'no-task': booleanFlag('About no task', { exclusive: ['task'] }),
    file: listFlag({ char: 'F', helpValue: 'NAME[@V]', description: 'Attach this file of the board, a path or fil_…' }),
    attach: repeatedFlag('PATH[=NAME]', 'Put this file onto the board, then attach it; - is standard input'),
    urgent: booleanFlag('May interrupt', { char: 'u' }),
    'expect-reply': booleanFlag('Say that an answer is expected'),
    'body-file': stringFlag('PATH', 'Take the text from a file'),
    code: stringFlag('[=LANG]', 'Put the text into a code block'),
    truncate: choiceFlag(['none', 'head', 'tail'], 'Which part of a text that is too long to keep'),
    'ndjson-in': booleanFlag('Post one message per line of JSON on standard input'),
    'keep-going': booleanFlag('With --ndjson-in: go on after a line that fails', { dependsOn: ['ndjson-in'] }),
    'no-notes': booleanFlag('Do not say who gets it when'),
    'wait-reply': integerFlag('SECONDS', 'Wait for a reply; implies --expect-reply', { min: 0, max: 86_400 }),
    ...waitFlags,
  };

  /** The language of `--code` may be left out, which the parser cannot read. */
  protected override prepare(argv: string[]): string[] {
    const end = argv.indexOf('--');
    return argv.map((word, i) => (word === '--code' && (end < 0 || i < end) ? '--code=' : word));
  }

  override async run(): Promise<void> {
    if (this.flags['ndjson-in']) {
      const { postLines } = await import('./lib/post/lines.ts');
      return postLines(await this.onBoard('A'), this.flags, this.out);
    }
    await post(() => this.onBoard('A'), { body: this.args.body, ...this.flags, times: this.times }, this.out);
  }
}
