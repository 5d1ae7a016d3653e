/** Shared by task commands: resolves the task, reads the text, and reports the change. */
import type { z } from 'zod';
import { keepNote } from '../../../cli/local-note.ts';
import type { Output } from '../../../cli/output.ts';
import { sameAsFirst } from '../../../cli/repeats.ts';
import { runtime } from '../../../cli/runtime.ts';
import { type BoardSession, type Session, staying, whoActs } from '../../../cli/session/open-session.ts';
import { hasPipedInput, readWhole } from '../../../cli/stdin.ts';
import { ClientError } from '../../../client/errors.ts';
import { requireFeature } from '../../../client/features.ts';
import { patterns } from '../../../contract/ids.ts';
import type { AgentWork, Answer, Task, TaskRef } from '../../../contract/types.ts';
import { Failure, missingArgument, usage } from '../../../local/failure.ts';
import { noteFile } from '../../../local/private-file.ts';
import { remind } from '../../inbox/lib/reminders.ts';
import type { changedTask } from './shapes.ts';

/** The task as somebody typed it. @throws Failure for what cannot be one. */
export function taskRef(text: string): string {
  if (patterns.task.test(text)) return text;
  throw usage(`A task is CHK-17, 17 or tsk_…, but got "${text}".`, 'service task list');
}

/** Nothing about tasks is sent to a server that has none. */
export async function withTasks<S extends Session>(session: S): Promise<S> {
  await requireFeature(session.client, 'tasks');
  return session;
}

/**
 * A task, then its text; the task may be left out. A first word that reads as a task is one, unless `--` stands before it.
 * @param argv as typed.
 */
export function taskAndText(words: readonly string[], argv: readonly string[]): { task?: string; text?: string } {
  const dash = argv.indexOf('--');
  const afterDash = dash >= 0 && argv.length - dash - 1 === words.length;
  const named = !afterDash && words[0] !== undefined && patterns.task.test(words[0]);
  const [text, ...more] = named ? words.slice(1) : words;
  if (more.length > 0) throw usage('The text is one argument: put it in quotes.');
  return { ...(named ? { task: words[0] as string } : {}), ...(text === undefined ? {} : { text }) };
}

/** A text that is an argument, or piped in. @throws Failure `body_empty`. */
export async function textOf(given: string | undefined, what: string, out: Output): Promise<string> {
  if (given === undefined && !hasPipedInput()) throw missingArgument(`Give ${what} as an argument, or pipe it in.`);
  if (given === undefined || given === '-') return readWhole('-', out, what);
  if (/\S/u.test(given)) return given;
  throw new Failure('body_empty', `There is no text for ${what}.`);
}

/**
 * The task that was named, else the one the agent is on, or was on when this was first run.
 *
 * @param key the command's `--idempotency-key`. @throws Failure `no_current_task`.
 */
export async function currentTask(
  session: BoardSession,
  given: string | undefined,
  key: string | undefined,
): Promise<string> {
  return given ?? sameAsFirst(session, key, 'current task', () => taskNow(session));
}

async function taskNow(session: BoardSession): Promise<string> {
  const { client, board, agent } = session;
  const current = agent ? (await client.call('getMe')).data.current_task : null;
  if (current) return current.id;
  const { data } = await client.call('listTasks', { params: { board }, query: { mine: true } });
  const tasks = data.tasks.map((task) => task.ref);
  throw new Failure('no_current_task', agent ? 'The agent is on no task now.' : 'A person is on no task; name one.', {
    hint: tasks.length > 0 ? `Name one, such as ${tasks[0]}` : `service task list${staying(session)}`,
    details: { tasks },
  });
}

/**
 * Makes a change with what this agent was given when it started the task, if that was on this machine. It is sent once
 * after the task was taken from the agent, which then knows and may go on as a helper.
 *
 * @param key the command's `--idempotency-key`. @throws what the change throws.
 */
export async function asOwner<T>(
  session: Session,
  task: string,
  key: string | undefined,
  change: (own: { ownership?: string }) => Promise<T>,
): Promise<T> {
  const given = async () => (await ownedHere(session, task))?.ownership ?? null;
  const ownership = session.agent ? await sameAsFirst(session, key, `ownership of ${task}`, given) : null;
  if (ownership === null) return change({});
  try {
    return await change({ ownership });
  } catch (error) {
    if (error instanceof ClientError && error.code === 'task_taken')
      await dropOwnership(session, { id: task, ref: task });
    throw error;
  }
}

/** Keeps what an agent was given with a task that it owns now. */
export async function keepOwnership(session: Session, { id, ref, ownership }: Task): Promise<void> {
  if (!session.agent || ownership === undefined) return;
  const kept = whoActs(session).then((agent) => {
    const owned = { member_id: agent.id, task_id: id, ref, ownership };
    return change((tasks) => [...tasks.filter((one) => !isSame(one, owned)), owned]);
  });
  await keepNote(kept, session.choice.out, `${ref} is started, which could not be noted on this machine`);
}

/** Deletes what an agent was given with a task, once it knows that it does not own it any more. */
export async function dropOwnership(session: Session, { id, ref }: Pick<Task, 'id' | 'ref'>): Promise<void> {
  const dropped = ownedHere(session, id).then(
    (owned) => owned && change((tasks) => tasks.filter((one) => !isSame(one, owned))),
  );
  const lost = `${ref} is not owned here any more, which could not be noted on this machine`;
  await keepNote(dropped, session.choice.out, lost);
}

/** What is told after a change. What of it cannot be read is left out: the change is made. */
export async function taskOut(
  session: BoardSession,
  task: Task,
  out: Output,
  change: 'started' | 'closed' | 'other' = 'other',
): Promise<z.infer<typeof changedTask>> {
  const inbox = session.agent ? await readWork(session) : null;
  const next = change === 'closed' ? await nextTask(session, inbox?.work ?? null) : null;
  if (inbox?.work.nudges) await remindAfter(change, inbox, { next, stay: staying(session), out });
  return { task, line: inbox?.work.line ?? null, next, nudges: out.base.nudges ?? [] };
}

async function readWork({ client }: BoardSession): Promise<Answer<'readInbox'> | null> {
  const reply = await client.call('readInbox', { query: { limit: 1 } }).catch(() => null);
  return reply?.data ?? null;
}

async function nextTask({ client, board }: BoardSession, work: AgentWork | null): Promise<TaskRef | null> {
  if (work) return work.oldest_open;
  const query = { state: 'open', limit: 1 };
  const [open] = (await client.call('listTasks', { params: { board }, query }).catch(() => null))?.data.tasks ?? [];
  return open ? { id: open.id, ref: open.ref, title: open.title } : null;
}

async function remindAfter(
  change: 'started' | 'closed' | 'other',
  { member_id: agent }: Answer<'readInbox'>,
  { next, stay, out }: { next: TaskRef | null; stay: string; out: Output },
): Promise<void> {
  if (change === 'closed' && next)
    await remind(out, agent, { code: 'next_task', text: `${next.ref} is open: service task start ${next.ref}${stay}` });
  if (change === 'started')
    await remind(out, agent, {
      code: 'first_task',
      text: `While you work: service task note "where it stands"${stay}; a question: service ask${stay}; at the end: service task done "what was done"${stay}`,
      most: 3,
    });
}

interface Owned {
  member_id: string;
  task_id: string;
  ref: string;
  ownership: string;
}

interface Content {
  v: 1;
  /** The latest last. */
  tasks: Owned[];
}

const MAX_TASKS = 500;

const isContent = (value: unknown): value is Content => Array.isArray((value as Partial<Content> | null)?.tasks);
const file = noteFile<Content>('tasks.json', { v: 1, tasks: [] }, isContent);

/** What the agent was given with a task, named by its reference in any case, its number or its id; null for people. */
async function ownedHere(session: Session, task: string): Promise<Owned | null> {
  if (!session.agent) return null;
  const name = task.startsWith('tsk_') ? task : task.toUpperCase();
  const { tasks } = file.read(runtime().folders);
  const named = tasks.filter(({ task_id, ref }) => [task_id, ref, ref.split('-')[1]].includes(name));
  if (named.length === 0) return null;
  // A member is on one board, so a number alone names one of its tasks.
  const { id } = await whoActs(session);
  return named.findLast(({ member_id }) => member_id === id) ?? null;
}

const isSame = (one: Owned, other: Owned): boolean =>
  one.member_id === other.member_id && one.task_id === other.task_id;

/** The oldest of too many are deleted. */
const change = (changed: (tasks: Owned[]) => Owned[]): Promise<void> =>
  file.change(runtime().folders, ({ tasks }) => ({ v: 1, tasks: changed(tasks).slice(-MAX_TASKS) }));
