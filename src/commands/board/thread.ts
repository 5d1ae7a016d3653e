import type { z } from 'zod';
import { BaseCommand } from '../../cli/base.ts';
import { EXIT, Exit } from '../../cli/errors.ts';
import { booleanFlag, integerFlag, limitFlag, listFlags, required, waitFlag, waitFlags } from '../../cli/flags.ts';
import { patiently } from '../../cli/list.ts';
import { called } from '../../cli/runtime.ts';
import { type BoardSession, staying } from '../../cli/session/open-session.ts';
import { flag, message, messages, nextSeq, object, seq } from '../../cli/shapes.ts';
import { pages } from '../../client/pages.ts';
import { waitFor } from '../../client/wait.ts';
import { shellArgument } from '../../contract/text.ts';
import type { Answer } from '../../contract/types.ts';
import { type MessageStyle, messageText } from './lib/read/message-text.ts';
import { boardNamed, findMessage } from './lib/read/references.ts';

export const json = () =>
  object({
    thread_root_seq: seq.nullable(),
    root: message.nullable(),
    replies: messages,
    next_after: nextSeq,
    timed_out: flag.optional(),
  });

export default class BoardThread extends BaseCommand<typeof BoardThread> {
  static override boardFirst = true;
  static override readOnly = true;
  static override summary = 'Read a thread, or wait for its next reply';
  static override description =
    'Any message of the thread names it. A wait that runs out is no error: exit code 0,\nor 3 with --fail-timeout.';
  static override examples = ['service board thread 6', 'service board thread 6 --after 9 --wait 300'];
  static override seeAlso = ['board read', 'board message'];
  static override args = { message: required('A message of the thread: 6, general#6 or msg_…') };
  static override flags = {
    wait: waitFlag('Wait for a reply'),
    after: integerFlag('N', 'Only replies after this number', { min: 0 }),
    limit: limitFlag(),
    markdown: booleanFlag('As a Markdown document, each text as a quotation'),
    ...waitFlags,
    ...listFlags,
  };

  override async run(): Promise<void> {
    const session = await this.onBoard('A', { named: boardNamed(this.args.message) });
    const { message } = this.args;
    const id = message.startsWith('msg_') ? message : (await findMessage(session, message)).id;
    const record = await readThread(session, id, this.flags);
    // A reference may name another board than the one in use.
    const board = (record.root ?? record.replies[0])?.board ?? session.board;
    this.out.base.board = board;
    if (this.out.mode === 'ndjson') await this.each(session, id, record);
    else {
      const { agent } = session;
      const style = { paint: this.out.paint, times: this.times, agent, markdown: this.flags.markdown };
      const same = `${shellArgument(this.args.message)}${staying(session)}`;
      this.print<typeof json>(record, () => threadText(board, record, style, same));
    }
    if (record.timed_out && this.flags['fail-timeout']) throw new Exit(EXIT.checkFailed);
  }

  /** Its first message and every reply from this page on, to the end of the thread unless a number of them was asked for. */
  private async each({ client }: BoardSession, message: string, first: ThreadRecord): Promise<void> {
    const { root, replies, next_after: after } = first;
    this.out.listed(root && this.flags.after === undefined ? [root, ...replies] : replies);
    if (this.flags.limit !== undefined || after === null) return;
    const input = { params: { message }, query: { after, limit: 200 } };
    for await (const page of pages(client, 'listReplies', input, patiently(this.out))) this.out.listed(page.replies);
  }
}

type ThreadRecord = z.infer<ReturnType<typeof json>>;

/** The thread of a message, after waiting for a reply if that was asked for. */
async function readThread(
  { client }: BoardSession,
  message: string,
  options: { wait?: number | undefined; after?: number | undefined; limit?: number | undefined },
): Promise<ThreadRecord> {
  const input = { params: { message }, query: { after: options.after, limit: options.limit } };
  if (options.wait === undefined) return record((await client.call('listReplies', input)).data);
  const { reply, timedOut } = await waitFor(client, 'listReplies', input, { waitSeconds: options.wait });
  return { ...record(reply.data), timed_out: timedOut };
}

/** @param same what names the thread again. */
function threadText(
  board: string,
  { root, replies, next_after: next, timed_out }: ThreadRecord,
  style: MessageStyle,
  same: string,
): string {
  const count = `${replies.length} ${replies.length === 1 ? 'reply' : 'replies'}`;
  return [
    `${style.markdown ? '## ' : ''}${board} · ${root ? `thread of #${root.seq} · ` : ''}${count}`,
    ...(root ? [messageText(root, style)] : []),
    ...replies.map((reply) => messageText(reply, style)),
    timed_out ? 'No reply in that time.' : '',
    next === null ? '' : called(`Later: service board thread ${same} --after ${next}`),
  ]
    .filter(Boolean)
    .join('\n');
}

function record({ root, replies, next_after }: Answer<'listReplies'>): ThreadRecord {
  return { thread_root_seq: root?.seq ?? replies[0]?.thread_root_seq ?? null, root, replies, next_after };
}
