/** Posting one message: its text, its targets, what is said about it afterwards. */
import type { Client } from '../client/client.ts';
import type { Message } from '../contract/types.ts';
import { usage } from '../local/failure.ts';
import type { BoardSession } from './base.ts';
import { checkLength, fenced, LIMIT, readBody, truncated } from './body.ts';
import { Exit } from './errors.ts';
import { EXIT } from './exit.ts';
import type { Output } from './output.ts';
import type { Taken } from './stdin.ts';
import { findMessage, targets } from './values.ts';

export interface PostWish {
  body: string | undefined;
  to?: string[] | undefined;
  reply?: string | undefined;
  urgent?: boolean;
  'expect-reply'?: boolean;
  'wait-reply'?: number | undefined;
  'fail-timeout'?: boolean | undefined;
  'body-file'?: string | undefined;
  code?: string | undefined;
  truncate?: string | undefined;
  'no-notes'?: boolean;
  'idempotency-key'?: string | undefined;
}

/** The text is read and checked before anything is asked of a server, so that an empty pipe starts nothing. */
export async function post(open: () => Promise<BoardSession>, wish: PostWish, out: Output): Promise<void> {
  const keep = wish.truncate === 'tail' ? 'tail' : 'head';
  const text = shaped(await readBody({ argument: wish.body, file: wish['body-file'], keep, out }), wish);
  const session = await open();
  const { client, board } = session;
  const reply = await client.call('postMessage', {
    params: { board },
    body: {
      body: text,
      to: targets(wish.to, ownHandle(session)),
      reply_to: wish.reply === undefined ? undefined : await replyId(client, board, wish.reply),
      urgent: wish.urgent,
      expects_reply: wish['expect-reply'] || wish['wait-reply'] !== undefined,
    },
    idempotencyKey: wish['idempotency-key'],
  });
  const message = reply.data;
  if (reply.replayed) out.base.replayed = true;
  const again = reply.replayed ? ' (already done)' : '';
  const first = `Posted #${message.seq} to ${message.to.join(', ')} on ${message.board}${again}`;
  if (wish['wait-reply'] !== undefined) return waited(session, message, wish, { out, first });
  const notes = wantsNotes(session, wish, out) ? await notesOf(session, message) : { unread: null, recipients: null };
  const lines = await noteLines(notes, message, out);
  out.print({ message, ...notes }, () => [first, ...lines].join('\n'));
}

/** Cut to the limit if that was asked for, put into a fence, and short enough. */
function shaped(taken: Taken, { code, truncate }: PostWish): string {
  const room = LIMIT - (code === undefined ? 0 : 100 + code.length);
  const cuts = truncate === 'head' || truncate === 'tail';
  const cut = cuts ? truncated(taken.text, truncate, room, taken) : checkLength(taken.text, taken.more);
  return checkLength(code === undefined ? cut : fenced(cut, code));
}

/** An id needs no look-up; a number does. */
async function replyId(client: Client, board: string, reference: string): Promise<string> {
  if (/^msg_[0-9A-HJKMNP-TV-Z]{26}$/.test(reference)) return reference;
  const found = await findMessage(client, board, reference);
  if (found.board !== board) throw usage(`#${found.seq} is on ${found.board}, not on ${board}.`);
  return found.id;
}

function ownHandle({ agent, entry }: BoardSession): string | null {
  return agent ? null : (entry?.person?.handle ?? null);
}

/** Advice costs two more reads: for agents, and for a person who looks at it. */
function wantsNotes({ agent }: BoardSession, wish: PostWish, out: Output): boolean {
  if (wish['no-notes'] || out.quiet) return false;
  return agent || out.terminal;
}

async function notesOf(session: BoardSession, message: Message) {
  const { readNotes } = await import('./notes.ts');
  return readNotes(session, message);
}

async function noteLines(notes: Awaited<ReturnType<typeof notesOf>>, message: Message, out: Output): Promise<string[]> {
  if (!notes.unread && !notes.recipients) return [];
  const { notesText, warnIfNobodyWakes } = await import('./notes.ts');
  warnIfNobodyWakes(notes, message, out);
  return notesText(notes);
}

async function waited(
  session: BoardSession,
  message: Message,
  { 'wait-reply': wait = 0, 'fail-timeout': fails }: PostWish,
  { out, first }: { out: Output; first: string },
): Promise<void> {
  const { awaitReply, replyText } = await import('./await-reply.ts');
  const result = await awaitReply(session, message, wait);
  out.print({ message, unread: null, recipients: null, ...result }, () =>
    [first, ...replyText(result, wait, out)].join('\n'),
  );
  if (result.timed_out && fails) throw new Exit(EXIT.checkFailed);
}
