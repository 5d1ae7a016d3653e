/** Reads an agent's inbox. Messages are shown first and acknowledged afterwards, so that none is lost. */
import type { z } from 'zod';
import { EXIT } from '../../../cli/errors.ts';
import { flushed, type Output } from '../../../cli/output.ts';
import { called } from '../../../cli/runtime.ts';
import { type Session, staying } from '../../../cli/session/open-session.ts';
import { sessionSeats } from '../../../cli/session/own-seats.ts';
import { interruptWith } from '../../../cli/signals.ts';
import { showTime } from '../../../cli/terminal/time.ts';
import { waitFor } from '../../../client/wait.ts';
import type { Answer } from '../../../contract/types.ts';
import { renderBundle } from '../../../daemon/bundle/bundle.ts';
import { renderMessage } from '../../../daemon/bundle/render.ts';
import { readOutcomes } from '../../../daemon/bundle/task-outcomes.ts';
import { holdInbox } from './hold-deliveries.ts';
import { remind } from './reminders.ts';
import type { shownInbox } from './shapes.ts';

type Inbox = Answer<'readInbox'>;
export interface InboxOptions {
  wait?: number | undefined;
  peek?: boolean;
  limit?: number | undefined;
}

type InboxRecord = z.infer<typeof shownInbox>;

/** With the flags that a further command needs to act as this seat. */
export type Shown = Awaited<ReturnType<typeof readInbox>>;

/** Reads the inbox, after waiting for a message if that was asked for. */
export async function readInbox(session: Session, options: InboxOptions) {
  const { client } = session;
  const { inbox, timedOut } = await unshown(session, options);
  const last = inbox.messages.at(-1)?.seq ?? null;
  const outcomes = await readOutcomes(
    async (name, params) => (await client.call(name, { params })).data,
    inbox.board,
    inbox.messages,
  );
  const flags = await flagsOf(session);
  const naming = { seats: (await sessionSeats()).length > 1, flags };
  const record: InboxRecord = {
    agent: inbox.agent,
    messages: inbox.messages,
    acked_up_to: options.peek ? null : last,
    more: inbox.more,
    wrapped: inbox.messages.map((message) => renderMessage(message, inbox.agent, { outcomes, ...naming })),
    bundle: renderBundle([{ board: inbox.board, seat: inbox.agent, messages: inbox.messages, outcomes }], naming),
    work: inbox.work,
    ...(inbox.braked ? { braked: inbox.braked } : {}),
    ...(options.wait === undefined ? {} : { timed_out: timedOut }),
  };
  return { inbox, record, outcomes, flags };
}

/** In a session with several seats a command names the board even beside `--as`. */
async function flagsOf(session: Session): Promise<string> {
  const { seat, choice } = session;
  const several = seat !== null && choice.board === undefined && (await sessionSeats()).length > 1;
  return `${staying(session)}${several ? ` --board ${seat.saved.board}` : ''}`;
}

/** The inbox without what the session has received already, perhaps a moment before its acknowledgement. */
async function unshown(session: Session, options: InboxOptions): Promise<{ inbox: Inbox; timedOut: boolean }> {
  const received = session.seat ? await holdInbox(session.seat, options.peek === true) : new Set<number>();
  const { inbox, timedOut } = await asked(session, options);
  const messages = inbox.messages.filter(({ seq }) => !received.has(seq));
  const last = inbox.messages.at(-1);
  if (options.wait === undefined || options.peek || messages.length > 0 || !last)
    return { inbox: { ...inbox, messages }, timedOut };
  await session.client.call('ackInbox', { body: { up_to: last.seq } });
  return asked(session, options);
}

async function asked({ client }: Session, { limit, wait }: InboxOptions): Promise<{ inbox: Inbox; timedOut: boolean }> {
  const query = { limit };
  if (wait === undefined) return { inbox: (await client.call('readInbox', { query })).data, timedOut: false };
  const { reply, timedOut } = await waitFor(client, 'readInbox', { query }, { waitSeconds: wait });
  return { inbox: reply.data, timedOut };
}

/** What is printed of it. */
export function inboxText({ inbox, record, flags }: Shown, header: string[] = []): string {
  const { bundle, more } = record;
  const messages = bundle === '' ? `${inbox.board} · nothing new for ${inbox.agent}` : bundle;
  const paused = inbox.braked
    ? [
        `service: Messages of agents do not wake you until ${showTime(inbox.braked.until, 'local')}; those of people do.`,
      ]
    : [];
  const lines = [...header.map((line) => `service: ${line}`), ...paused, messages];
  return called([...lines, ...(more ? [`service: More is waiting: service inbox${flags}`] : [])].join('\n'));
}

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

/** Acknowledges what was printed, once the reader has it. @throws ClientError: then the messages will come again. */
export async function acknowledge(session: Session, { acked_up_to }: InboxRecord, out: Output): Promise<void> {
  if (acked_up_to === null) return;
  await flushed();
  try {
    await session.client.call('ackInbox', { body: { up_to: acked_up_to } });
  } catch (error) {
    out.note('These messages could not be acknowledged, so they will come again.');
    throw error;
  }
}

/** Shows one batch after the other as they come, acknowledging each after it was shown; until it is interrupted. */
export async function followInbox(session: Session, options: InboxOptions, out: Output): Promise<never> {
  interruptWith(() => process.exit(EXIT.done));
  for (;;) {
    const shown = await readInbox(session, { ...options, wait: 86_400 });
    const { record } = shown;
    if (record.messages.length === 0) continue;
    if (out.mode === 'text') out.print(record, () => inboxText(shown));
    else for (const message of record.messages) out.each(message);
    await acknowledge(session, record, out);
  }
}
