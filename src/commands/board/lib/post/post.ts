/** Posts one message and reports who gets it when. */
import { EXIT, Exit } from '../../../../cli/errors.ts';
import type { Output } from '../../../../cli/output.ts';
import { atServerOf, type BoardSession } from '../../../../cli/session/open-session.ts';
import type { Taken } from '../../../../cli/stdin.ts';
import type { Client } from '../../../../client/client.ts';
import { MAX_BODY } from '../../../../contract/text.ts';
import type { BodyIn, Message } from '../../../../contract/types.ts';
import { usage } from '../../../../local/failure.ts';
import { taskRef } from '../../../task/lib/tasks.ts';
import { boardNamed, findMessage, targets } from '../read/references.ts';
import type { Attaching } from './attach.ts';
import { checkLength, fenced, readBody, truncated } from './body.ts';
import type { PostOptions } from './flags.ts';
import type { Notes } from './post-notes.ts';
import { warnOfMentions } from './warn-of-mentions.ts';
import { warnOfSecrets } from './warn-of-secrets.ts';

/** The fields that a line of `--ndjson-in` may have. */
export const lineFields = [
  'body',
  'to',
  'reply_to',
  'urgent',
  'expects_reply',
  'about',
  'files',
] as const satisfies (keyof BodyIn<'postMessage'>)[];

/** The text is read and checked before anything is asked of a server, so that an empty pipe starts nothing. */
export async function post(
  open: (named: string | undefined) => Promise<BoardSession>,
  options: PostOptions,
  out: Output,
): Promise<void> {
  const given = await givenText(options, out);
  const about = aboutOf(options);
  const attaching = await attachingOf(options);
  const session = await open(options.reply === undefined ? undefined : boardNamed(options.reply));
  const { client, board } = session;
  await requireFeatures(client, [about && 'tasks', answerOf(options) && 'asks', attaching && 'files']);
  const body = {
    body: given ?? (await optionOf(session, options)),
    to: await targets(options.to, session),
    reply_to: options.reply === undefined ? undefined : await replyId(session, options.reply),
    urgent: options.urgent,
    expects_reply: options['expect-reply'] || options['wait-reply'] !== undefined,
    about,
    answer: answerOf(options),
  };
  const key = options['idempotency-key'];
  const reply = attaching
    ? await postWith(session, attaching, { body, options, out })
    : await client.call('postMessage', { params: { board }, body, idempotencyKey: key });
  const message = reply.data;
  if (reply.replayed) out.base.replayed = true;
  warnOfSecrets(message, out);
  warnOfMentions(message, session, out);
  const again = reply.replayed ? ' (already done)' : '';
  const refs = message.about.map((task) => task.ref).join(', ');
  const posted = `Posted #${message.seq} to ${message.to.join(', ')} on ${message.board}${refs ? ` · about ${refs}` : ''}${again}`;
  const first = [
    posted,
    ...message.files.map((file) => `Attached ${file.name} v${file.version}`),
    ...(message.notice ? [message.notice] : []),
    ...(message.held ? [heldText(message, session)] : []),
  ].join('\n');
  if (options['wait-reply'] !== undefined) return waited(session, message, options, { out, first });
  const notes = wantsNotes(session, options, out)
    ? await notesOf(session, message, out)
    : { unread: null, recipients: null };
  const lines = await noteLines(session, notes, message, out);
  out.print({ message, ...notes }, () => [first, ...lines].join('\n'));
}

/** Said of a post that wakes nobody. */
const heldText = ({ agent_run: run, thread_root_seq: root, seq, board }: Message, session: BoardSession): string =>
  `Held: agents have posted ${run ?? 'many'} messages in a row here, so it wakes nobody until a person writes in this thread or runs: service thread continue ${root ?? seq} --board ${board}${atServerOf(session)}`;

/** The text; undefined: the option that is picked says it, beside which a pipe is read only for `-`. */
async function givenText(options: PostOptions, out: Output): Promise<string | undefined> {
  const { body, option, truncate, 'body-file': file } = options;
  const attached = options.attach?.some((text) => /^-(=|$)/.test(text)) === true;
  const typed = body !== undefined || file !== undefined;
  if (option !== undefined && !typed) return undefined;
  if (attached && (!typed || body === '-' || file === '-'))
    throw usage(
      'Standard input is attached, so the text comes from elsewhere.',
      'service say "The log" --attach -=app.log',
    );
  return shaped(await readBody({ argument: body, file, keep: truncate === 'tail' ? 'tail' : 'head', out }), options);
}

async function optionOf(session: BoardSession, { reply = '', option = 0 }: PostOptions): Promise<string> {
  const { optionText } = await import('../../../ask/lib/answer.ts');
  return optionText(await findMessage(session, reply), option, { session, reference: reply });
}

const aboutOf = ({ task, 'no-task': none }: PostOptions): string[] | undefined => (none ? [] : task?.map(taskRef));

function answerOf({ option, comment }: PostOptions): { option?: number; comment?: boolean } | undefined {
  if (comment) return { comment };
  return option === undefined ? undefined : { option };
}

async function requireFeatures(client: Client, features: unknown[]): Promise<void> {
  const named = features.filter((feature) => typeof feature === 'string');
  if (named.length === 0) return;
  const { requireFeature } = await import('../../../../client/features.ts');
  for (const feature of named) await requireFeature(client, feature);
}

/** Null where no file goes with it, which is most often. */
async function attachingOf(options: PostOptions): Promise<Attaching | null> {
  if (!options.file?.length && !options.attach?.length) return null;
  const { attachmentsOf } = await import('./attach.ts');
  return attachmentsOf(options);
}

/** Puts what is to be put, then posts with it. */
async function postWith(
  session: BoardSession,
  attaching: Attaching,
  { body, options, out }: { body: BodyIn<'postMessage'>; options: PostOptions; out: Output },
) {
  const { postKey, putAttachments, withPut } = await import('./attach.ts');
  const { files, put } = await putAttachments(session, attaching, options, out);
  const call = {
    params: { board: session.board },
    body: { ...body, files },
    idempotencyKey: postKey(options, attaching),
  };
  return session.client.call('postMessage', call).catch((error: unknown) => {
    throw withPut(error, put);
  });
}

/** Cut to the limit if that was asked for, put into a fence, and short enough. */
function shaped(taken: Taken, { code, truncate }: PostOptions): string {
  const room = MAX_BODY - (code === undefined ? 0 : 100 + code.length);
  const cuts = truncate === 'head' || truncate === 'tail';
  const cut = cuts ? truncated(taken.text, truncate, room, taken) : checkLength(taken.text, taken.more);
  return checkLength(code === undefined ? cut : fenced(cut, code));
}

/** An id needs no look-up; a number does. */
async function replyId(session: BoardSession, reference: string): Promise<string> {
  if (/^msg_[0-9A-HJKMNP-TV-Z]{26}$/.test(reference)) return reference;
  const found = await findMessage(session, reference);
  if (found.board !== session.board) throw usage(`#${found.seq} is on ${found.board}, not on ${session.board}.`);
  return found.id;
}

/** Advice costs two more reads: for agents, and for a person who looks at it. */
function wantsNotes({ agent }: BoardSession, options: PostOptions, out: Output): boolean {
  if (options['no-notes'] || out.quiet) return false;
  return agent || out.terminal;
}

async function notesOf(session: BoardSession, message: Message, out: Output): Promise<Notes> {
  const { readNotes } = await import('./post-notes.ts');
  const { notes, inbox } = await readNotes(session, message);
  if (inbox) {
    const { remindAfterPost } = await import('./reminders.ts');
    // The message is posted: what it would be reminded of is not worth a failure.
    await remindAfterPost(session, message, inbox, out).catch(() => {});
  }
  return notes;
}

async function noteLines(session: BoardSession, notes: Notes, message: Message, out: Output): Promise<string[]> {
  if (!notes.unread && !notes.recipients) return [];
  const { notesText, warnIfNobodyWakes } = await import('./post-notes.ts');
  warnIfNobodyWakes(session, notes, message, out);
  return notesText(notes);
}

async function waited(
  session: BoardSession,
  message: Message,
  { 'wait-reply': wait = 0, 'fail-timeout': fails }: PostOptions,
  { out, first }: { out: Output; first: string },
): Promise<void> {
  const { awaitReply, failedAfterPost, replyText } = await import('./await-reply.ts');
  const { showReplies } = await import('../../../inbox/lib/hold-deliveries.ts');
  const show = async () => {
    out.begin(first);
    const result = await awaitReply(session, message, wait).catch(failedAfterPost(message));
    out.print({ message, unread: null, recipients: null, ...result }, () =>
      replyText(result, message, wait, { session, out }),
    );
    return result;
  };
  const { timed_out } = await showReplies(session.seat, message.id, show, ({ reply, owner_messages }) => {
    // The person's reply is among their messages too.
    const came = reply ? { reply } : { owner_messages };
    return out.shows(came) ? [...(reply ? [reply] : []), ...owner_messages] : [];
  });
  if (timed_out && fails) throw new Exit(EXIT.checkFailed);
}
