/** Reminders for an agent after it has posted. */
import type { Output } from '../../../../cli/output.ts';
import { type BoardSession, staying } from '../../../../cli/session/open-session.ts';
import { HOUR, MINUTE } from '../../../../contract/durations.ts';
import type { Answer, Message, Task } from '../../../../contract/types.ts';
import { remind } from '../../../inbox/lib/reminders.ts';

type Inbox = Answer<'readInbox'>;

/** Words that say that somebody cannot go on. */
const STUCK =
  /\b(blocked (on|by|until)|i am blocked|i'm blocked|waiting (for|on)|stuck (on|until)|can(no|')t (go on|continue|proceed)|need(s)? (a|your) (decision|answer|approval|go-ahead))\b/i;
const BEHIND = 8;

/** @param inbox as it was read after the post. */
export async function remindAfterPost(
  session: BoardSession,
  message: Message,
  { member_id: agent, work }: Inbox,
  out: Output,
): Promise<void> {
  if (!work.nudges) return;
  const stay = staying(session);
  if (work.posts_without_task >= 3) {
    await remind(out, agent, {
      code: 'no_task_posts',
      text: `${work.posts_without_task} posts in a row about no task. Say what you work on: service task list${stay}, then service task start REF${stay}, or service task new "…"${stay}`,
      every: 30 * MINUTE,
    });
  }
  if (!message.ask && STUCK.test(message.body) && !(await hasOpenAsk(session, message))) {
    await remind(out, agent, {
      code: 'ask_instead',
      text: `Waiting for somebody? An ask shows that the task is Blocked and tells you the answer: service ask @NAME "…" "Option" "Option"${stay}`,
      every: HOUR,
    });
  }
  if (work.current_task) await remindOfStands(session, agent, work.current_task, out);
}

/** An ask of its own that waits already, about the same task. */
async function hasOpenAsk({ client, board }: BoardSession, { about }: Message): Promise<boolean> {
  const query = { from_me: true, board, task: about[0]?.ref, limit: 1 };
  return (await client.call('listAsks', { query })).data.asks.length > 0;
}

async function remindOfStands(
  session: BoardSession,
  agent: string,
  current: NonNullable<Inbox['work']['current_task']>,
  out: Output,
): Promise<void> {
  const { id, ref, stands } = current;
  const behind = stands ? (stands.messages_since ?? 0) : (await readTask(session, id)).message_count;
  if (behind < BEHIND || (stands && Date.now() - Date.parse(stands.at) < 15 * MINUTE)) return;
  const note = `service task note "…"${staying(session)}`;
  const text = stands
    ? `Where ${ref} stands is ${behind} messages old: ${note}`
    : `Nobody has written where ${ref} stands, after ${behind} messages: ${note}`;
  const about = `${id} ${stands?.version ?? 0} ${Math.floor(behind / BEHIND)}`;
  await remind(out, agent, { code: 'stands_stale', text, about });
}

const readTask = async ({ client, board }: BoardSession, task: string): Promise<Task> =>
  (await client.call('getTask', { params: { board, task } })).data;
