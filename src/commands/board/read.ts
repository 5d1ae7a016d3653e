import { z } from 'zod';
import { BaseCommand, booleanFlag, integerFlag, limitFlag, listFlags } from '../../cli/base.ts';
import { without } from '../../cli/session/here.ts';
import { board, count, message, messages, nextSeq, object, seq } from '../../cli/shapes.ts';
import { filterFlags } from './lib/read/filters.ts';
import { read } from './lib/read/read.ts';

export const json = () =>
  z.union([
    object({
      visibility: board.shape.visibility,
      messages,
      next_after: nextSeq,
      prev_before: nextSeq,
      read_up_to: seq.optional(),
      unread: count.optional(),
    }),
    message,
  ]);

export default class BoardRead extends BaseCommand<typeof BoardRead> {
  static override boardFirst = true;
  static override readOnly = without('mark-read');
  static override aliases = ['read'];
  static override stream = 'follow' as const;
  static override summary = 'Read the messages of a board';
  static override description =
    'The newest ones by default. Reading moves nothing: only --mark-read, for a person, says that the messages shown are\nread. Control characters in messages are shown as escapes, so that no message acts on the terminal.';
  static override examples = [
    'service board read',
    'service read --from codex --limit 10',
    'service read --follow',
    'service read --all --ndjson',
  ];
  static override seeAlso = ['board watch', 'board thread', 'board ack'];
  static override flags = {
    after: integerFlag('N', 'Messages after this number', { min: 0, exclusive: ['before', 'around', 'unread'] }),
    before: integerFlag('N', 'Messages before this number', { min: 1, exclusive: ['around', 'unread'] }),
    around: integerFlag('N', 'Messages around this number', { min: 1, exclusive: ['unread'] }),
    unread: booleanFlag('What you have not read, oldest first'),
    ...filterFlags,
    limit: limitFlag(),
    all: booleanFlag('Follow every page', { char: 'A', exclusive: ['around'] }),
    markdown: booleanFlag('As a Markdown document, each text as a quotation'),
    'mark-read': booleanFlag('What you have not read, oldest first, and mark it as read (a person only)', {
      // Everything up to the last one shown counts as read, so nothing may be left out of what is shown.
      exclusive: ['after', 'before', 'around', ...Object.keys(filterFlags)],
    }),
    follow: booleanFlag('Go on with new messages', { char: 'f', exclusive: ['before', 'around', 'mark-read'] }),
    ...listFlags,
  };

  override async run(): Promise<void> {
    if (this.flags['mark-read'])
      this.out.requireShown('--mark-read has nothing to acknowledge', 'service board ack --all');
    const session = await this.onBoard(this.flags['mark-read'] ? 'P' : 'A');
    await read(session, this.flags, { out: this.out, times: this.times });
  }
}
