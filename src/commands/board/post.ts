import { z } from 'zod';
import { optional, WriteCommand } from '../../cli/base.ts';
import { count, failure, flag, message, messages, object, postRecipients, seq, text } from '../../cli/shapes.ts';
import { hasPipedInput } from '../../cli/stdin.ts';
import { usage } from '../../local/failure.ts';
import { postFlags } from './lib/post/flags.ts';
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
    'The text is the argument, or what is piped in; "-" reads standard input in any case, and with --option only "-"\ndoes. A message to everyone wakes only the agents it mentions: name them in the text, or with --to. --attach puts a file\nas service file put does, and attaches the version that makes.';
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
  static override flags = postFlags;

  /** The language of `--code` may be left out, which the parser cannot read. */
  protected override prepare(argv: string[]): string[] {
    const end = argv.indexOf('--');
    return argv.map((word, i) => (word === '--code' && (end < 0 || i < end) ? '--code=' : word));
  }

  override async run(): Promise<void> {
    if (this.flags['ndjson-in']) {
      if (this.args.body !== undefined && this.args.body !== '-')
        throw usage('With --ndjson-in every text is on a line, {"body":"…"}, of standard input.');
      const { postLines } = await import('./lib/post/lines.ts');
      return postLines(await this.onBoard('A'), this.flags, this.out);
    }
    this.refuseUnclearCode();
    await post(
      (named) => this.onBoard('A', { named }),
      { body: this.args.body, ...this.flags, times: this.times },
      this.out,
    );
  }

  /** With `--code diff` and a pipe, the one would be posted, and the other dropped. A word before the flag is the text. */
  private refuseUnclearCode(): void {
    const { body = '' } = this.args;
    const before = !this.argv.includes(body, this.argv.indexOf('--code'));
    if (this.flags.code !== '' || before || !/^[a-z][\w+#.-]{0,19}$/i.test(body) || !hasPipedInput()) return;
    throw usage(
      `Is "${body}" the language of what is piped in, or the text?`,
      `The language: --code=${body}; the text: service say ${body} --code`,
    );
  }
}
