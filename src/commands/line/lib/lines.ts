/** Reads and sets an agent's line: with its own token, or as its person. */
import type { Output } from '../../../cli/output.ts';
import type { BoardSession } from '../../../cli/session/open-session.ts';
import type { TimeStyle } from '../../../cli/terminal/time.ts';
import { requireFeature } from '../../../client/features.ts';
import type { Answer, BodyIn, Member } from '../../../contract/types.ts';
import { isOn } from '../../../local/actors.ts';
import { Failure, usage } from '../../../local/failure.ts';
import { agentElsewhere } from '../../agent/lib/own-agent.ts';
import { lineText } from '../../task/lib/task-text.ts';
import { taskRef } from '../../task/lib/tasks.ts';

type LineSet = Member & Pick<Answer<'setMyLine'>, 'overlaps'>;

/** Whose line a command is about, and as whom it is asked for. */
interface LineTarget {
  session: BoardSession;
  /** Null: the agent itself acts. */
  member: string | null;
}

/**
 * The agent that acts; or, where this machine holds no token for the one that `--as` names, its person acts for it.
 * @param globals the command's, as `open` reads them.
 */
export async function lineTarget(
  open: (who: 'G' | 'P') => Promise<BoardSession>,
  globals: { as?: string | undefined; board?: string | undefined },
): Promise<LineTarget> {
  const { as, board } = globals;
  try {
    const session = await open('G');
    // The one seat of that name may be on another board than the one that is named.
    if (as === undefined || !board || !session.seat || isOn(session.seat, board)) return { session, member: null };
  } catch (error) {
    if (as === undefined || !(error instanceof Failure) || error.code !== 'agent_seat_elsewhere') throw error;
  }
  globals.as = undefined;
  const member = agentElsewhere(as, globals);
  return { session: await open('P'), member };
}

export async function setLine({ session, member }: LineTarget, body: BodyIn<'setMyLine'>, key: string | undefined) {
  const { client, board } = session;
  await requireFeature(client, 'lines');
  if ([...body.text].length > 120) throw usage('A line has at most 120 characters.');
  return member === null
    ? client.call('setMyLine', { body, idempotencyKey: key })
    : client.call('setAgentLine', { params: { board, member }, body, idempotencyKey: key });
}

/** @param task only if the line is about this one. */
export async function clearLine({ session, member }: LineTarget, task: string | undefined, key: string | undefined) {
  const { client, board } = session;
  await requireFeature(client, 'lines');
  if (task !== undefined) {
    const now = await readLine({ session, member });
    if ((await aboutTask(session, now, task)).line === null) return { data: now, replayed: false };
  }
  return member === null
    ? client.call('clearMyLine', { idempotencyKey: key })
    : client.call('clearAgentLine', { params: { board, member }, idempotencyKey: key });
}

/** The member without a line that is about something else. @param task left out: whatever it is about. */
export async function aboutTask(
  { client, board }: BoardSession,
  member: Member,
  task: string | undefined,
): Promise<Member> {
  if (task === undefined || !member.line) return member;
  const { data } = await client.call('getTask', { params: { board, task: taskRef(task) } });
  return member.line.task?.id === data.id ? member : { ...member, line: null };
}

/** The member as it is now. @param agent another one. */
export async function readLine({ session, member }: LineTarget, agent?: string): Promise<Member> {
  const { client, board } = session;
  await requireFeature(client, 'lines');
  const name = agent ?? member ?? (await client.call('getMe')).data.id;
  return (await client.call('getMember', { params: { board, member: name } })).data;
}

/** `{agent, line, state}`, with `overlaps` of a line that was set with paths, or one line of text. */
export function printLine(
  out: Output,
  { board, name, line, state, overlaps }: LineSet,
  times: TimeStyle,
  tail = '',
): void {
  out.print(
    { agent: name, line, state, ...(overlaps ? { overlaps } : {}) },
    () => `${board} · ${name} · ${lineText(line, times)}${tail}`,
  );
}
