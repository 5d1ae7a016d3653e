/** Reads an agent's inbox. Messages are shown first and acknowledged afterwards, so that none is lost. */
import type { z } from 'zod';
import { EXIT } from '../../../cli/errors.ts';
import { flushed, type Output } from '../../../cli/output.ts';
import { called } from '../../../cli/runtime.ts';
import { reservedHere } from '../../../cli/session/here.ts';
import { type Session, staying } from '../../../cli/session/open-session.ts';
import { sessionSeats } from '../../../cli/session/own-seats.ts';
import { interruptWith } from '../../../cli/signals.ts';
import { plural } from '../../../cli/terminal/fields.ts';
import { showTime } from '../../../cli/terminal/time.ts';
import type { ClientError } from '../../../client/errors.ts';
import { waitFor } from '../../../client/wait.ts';
import type { Answer } from '../../../contract/types.ts';
import { renderBundle } from '../../../daemon/bundle/bundle.ts';
import { quoted } from '../../../daemon/bundle/escape.ts';
import { renderMessage } from '../../../daemon/bundle/render.ts';
import { readOutcomes } from '../../../daemon/bundle/task-outcomes.ts';
import { holdInbox } from './hold-deliveries.ts';
import { newNotices, noticesNow, type Waiting, waitingOf } from './new-notices.ts';
import { isNewsOfNotices, noteNoticesTold, remind } from './reminders.ts';
import type { shownInbox } from './shapes.ts';

type Inbox = Answer<'readInbox'>;

export interface InboxOptions {
  wait?: number | undefined;
  peek?: boolean;
  limit?: number | undefined;
  /** Whether notices are told of, and end the wait too. */
  notices?: boolean;
  /** Of each poll of a wait that found nothing. */
  onEmpty?: (inbox: Inbox) => void;
}

type InboxRecord = z.infer<typeof shownInbox>;

/** With the flags that a further command needs to act as this seat. */
export type Shown = Awaited<ReturnType<typeof readInbox>>;

/** Reads the inbox, after waiting for a message if that was asked for. */
export async function readInbox(session: Session, options: InboxOptions) {
  const { client } = session;
  const { inbox, timedOut, notices, readUpTo } = await unshown(session, options);
  const last = inbox.messages.at(-1)?.seq ?? null;
  const outcomes = await readOutcomes(
    async (name, params) => (await client.call(name, { params })).data,
    inbox.board,
    inbox.messages,
  );
  const flags = await flagsOf(session);
  const naming = { seats: (await sessionSeats()).length > 1, flags, reserved: reservedHere() };
  const record: InboxRecord = {
    agent: inbox.agent,
    messages: inbox.messages,
    acked_up_to: options.peek ? null : last,
    more: inbox.more,
    wrapped: inbox.messages.map((message) => renderMessage(message, inbox.agent, { outcomes, ...naming })),
    bundle: renderBundle([{ board: inbox.board, seat: inbox.agent, messages: inbox.messages, outcomes }], naming),
    work: inbox.work,
    ...(inbox.braked ? { braked: inbox.braked } : {}),
    ...(notices === undefined ? {} : { notices: notices.count }),
    ...(options.wait === undefined ? {} : { timed_out: timedOut }),
  };
  return { inbox, record, outcomes, flags, readUpTo, notices };
}

/** In a session with several seats a command names the board even beside `--as`. */
async function flagsOf(session: Session): Promise<string> {
  const { seat, choice } = session;
  const several = seat !== null && choice.board === undefined && (await sessionSeats()).length > 1;
  return `${staying(session)}${several ? ` --board ${seat.saved.board}` : ''}`;
}

interface Asked {
  inbox: Inbox;
  timedOut: boolean;
  notices?: Waiting | undefined;
}

/** The inbox without what the session has already, perhaps a moment before its acknowledgement. */
async function unshown(session: Session, options: InboxOptions): Promise<Asked & { readUpTo: number | undefined }> {
  const known = session.seat ? await holdInbox(session.seat, options) : new Set<number>();
  const isNew = ({ seq }: { seq: number }) => !known.has(seq);
  const answer = await asked(session, options, isNew);
  const { messages } = answer.inbox;
  return { ...answer, inbox: { ...answer.inbox, messages: messages.filter(isNew) }, readUpTo: messages.at(-1)?.seq };
}

/** @param isNew whether a message ends the wait. */
async function asked(
  { client, seat, choice }: Session,
  { limit, wait, notices = false, onEmpty }: InboxOptions,
  isNew: (message: { seq: number }) => boolean,
): Promise<Asked> {
  const query = { limit };
  // Beside a wait, whose length is no reason to leave it less time.
  const timeoutMs = wait ? client.timeoutMs : undefined;
  const read = async () => (await client.call('readInbox', { query, timeoutMs })).data;
  if (wait === undefined) {
    const [inbox, waiting] = await Promise.all([read(), notices ? noticesNow(client) : []]);
    return { inbox, timedOut: false, notices: waitingOf(waiting) };
  }
  const ended = new AbortController();
  const { signal } = ended;
  try {
    const until = ({ messages }: Inbox) => messages.some(isNew);
    const waiting = { waitSeconds: wait, until, onEmpty, onNoAnswer: tellNoAnswer(choice.out) };
    const messages = waitFor(client, 'readInbox', { query, signal }, waiting);
    if (notices && wait > 0) {
      const isNews = async (newest: string) => isNewsOfNotices(seat?.memberId ?? (await read()).member_id, newest);
      const news = waitingOf(await newNotices(client, { messages, wait, signal, isNews }));
      if (news) return { inbox: await read(), timedOut: false, notices: news };
    }
    const { reply, timedOut } = await messages;
    return { inbox: reply.data, timedOut };
  } finally {
    ended.abort();
  }
}

/** Says that a wait gets no answer: it is over only with its time, which may be a day. @param server where there are several */
export const tellNoAnswer =
  (out: Output, server?: string) =>
  ({ code }: ClientError): void => {
    const from = server === undefined ? '' : ` from ${server}`;
    out.note(`No answer${from} yet (${code}); trying again…`, { always: true });
  };

/** What is printed of it. */
export function inboxText({ inbox, record, flags }: Shown, header: string[] = []): string {
  const { bundle, more, notices } = record;
  const messages = bundle === '' ? `${quoted(inbox.board)} · nothing new for ${quoted(inbox.agent)}` : bundle;
  const lines = [...[...header, ...pauseLines(record, flags)].map((line) => `service: ${line}`), messages];
  if (more) lines.push(`service: More is waiting: service inbox${flags}`);
  if (notices) lines.push(noticesLine(notices, flags));
  return called(lines.join('\n'));
}

/**
 * What agents' messages do not wake it for; an acknowledgement, which may be about to follow, ends that of reads without any.
 *
 * @param whom the agent, where it is one of several
 */
function pauseLines(
  { braked, messages, acked_up_to: acked }: Pick<InboxRecord, 'braked' | 'messages' | 'acked_up_to'>,
  flags: string,
  whom = 'you',
): string[] {
  if (!braked) return [];
  const rule = `Messages of agents do not wake ${whom} until ${showTime(braked.until, 'local')}`;
  if (braked.reason !== 'reads') return [`${rule}; those of people do.`];
  if (acked !== null) return [];
  const last = messages.at(-1);
  const how = last ? `service inbox ack ${last.seq}` : 'service inbox';
  return [`${rule}, or until you acknowledge what you read: ${how}${flags}`];
}

/** @param flags what a command needs to act as the seat. */
export const noticesLine = (count: number, flags: string): string =>
  `service: ${plural(count, 'notice waits', 'notices wait')}: service inbox notices --ack${flags}`;

/** Reminds an agent that is on no task of those that nobody has picked up. @param stay flags that keep to its board. */
export async function remindOfTasks(
  out: Output,
  { member_id: agent, work }: Inbox,
  every?: number,
  stay = '',
): Promise<void> {
  const { nudges, current_task: current, open_tasks: count, oldest_open: oldest } = work;
  if (!nudges || current || !oldest) return;
  const text = `${count} ${count === 1 ? 'task is' : 'tasks are'} not picked up: service task list${stay}; the oldest: service task start ${oldest.ref}${stay}`;
  await remind(out, agent, { code: 'tasks_not_picked_up', text, ...(every === undefined ? {} : { every }) });
}

/** Leaves messages unread that are not printed whole, and says so. @param record what is printed @param parts what was read of each seat */
export function leaveUnshown(record: object, parts: { acked_up_to: number | null }[], out: Output): void {
  if (parts.every(({ acked_up_to: last }) => last === null) || out.shows(record)) return;
  for (const part of parts) part.acked_up_to = null;
  out.noteUnshown();
}

/** Notes that the agent was told of the notices that wait, once it was: then they end no further wait. */
export async function noteTold({ inbox, notices }: Pick<Shown, 'inbox' | 'notices'>, out: Output): Promise<void> {
  if (!notices || out.quiet) return;
  await flushed();
  await noteNoticesTold(inbox.member_id, notices.newest);
}

/** Acknowledges what was printed, once the reader has it. @throws ClientError: then the messages will come again. */
export async function acknowledge(session: Session, { acked_up_to }: InboxRecord, out: Output): Promise<void> {
  if (acked_up_to === null) return;
  await flushed();
  try {
    await session.client.call('ackInbox', { body: { up_to: acked_up_to } });
  } catch (error) {
    out.note('These messages could not be acknowledged, so they will come again.', { always: true });
    throw error;
  }
}

/** Says each time that agents' messages begin not to wake an agent whose inbox is followed. */
export function pauseTeller(out: Output): (inbox: Inbox, flags: string, whom?: string) => void {
  const told = new Set<string>();
  return (inbox, flags, whom) => {
    const { member_id: agent } = inbox;
    const lines = pauseLines({ ...inbox, acked_up_to: null }, flags, whom);
    if (!told.has(agent)) for (const line of lines) out.note(line, { always: true });
    if (lines.length > 0) told.add(agent);
    else told.delete(agent);
  };
}

/**
 * Shows one batch after the other as they come, acknowledging each after it was shown, and tells of notices, and of each
 * time that agents do not wake it; until it is interrupted.
 */
export async function followInbox(session: Session, options: InboxOptions, out: Output): Promise<never> {
  interruptWith(() => process.exit(EXIT.done));
  const stay = await flagsOf(session);
  const tellPause = pauseTeller(out);
  const onEmpty = (inbox: Inbox): void => tellPause(inbox, stay);
  for (;;) {
    const shown = await readInbox(session, { ...options, wait: 86_400, notices: true, onEmpty });
    const { record, flags } = shown;
    followed(out, record.messages, [{ ...shown.inbox, notices: record.notices, flags }], () => inboxText(shown));
    await noteTold(shown, out);
    await acknowledge(session, record, out);
  }
}

/** What became known of a seat's notices, and what a command needs to act as the seat. */
interface Noticed {
  board: string;
  agent: string;
  notices?: number | undefined;
  flags: string;
}

/** Prints what came while inboxes are followed. @param text what is printed of messages for people */
export function followed(out: Output, messages: Inbox['messages'], seats: Noticed[], text: () => string): void {
  const noticed = seats.filter((seat) => seat.notices);
  if (out.mode === 'text' && messages.length > 0) {
    out.begin(text());
    return;
  }
  for (const message of messages) out.each(message);
  for (const { board, agent, notices = 0, flags } of noticed)
    out.each({ board, agent, notices }, () => called(noticesLine(notices, flags)));
}
