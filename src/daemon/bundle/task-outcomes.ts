/** Reads the tasks that waited for answers, so that the asking agent knows whether it can continue. */
import type { Answer, Message } from '../../contract/types.ts';
import type { TaskOutcome } from './options.ts';

/** Calls the seat's server with the seat's token. */
type SeatCall = <Name extends 'getMessage' | 'getTask'>(
  name: Name,
  params: Record<string, string>,
) => Promise<Answer<Name>>;

const MAX_OUTCOMES = 10;

/**
 * The tasks by the id of the answer or withdrawal that they waited for. A task that cannot be read is left out: the line
 * is optional.
 */
export async function readOutcomes(
  ask: SeatCall,
  board: string,
  messages: readonly Message[],
): Promise<ReadonlyMap<string, TaskOutcome>> {
  const answers = messages.filter(({ answer }) => answer).slice(-MAX_OUTCOMES);
  const found = await Promise.all(answers.map((message) => outcomeOf(ask, board, message).catch(() => null)));
  return new Map(answers.flatMap(({ id }, n) => (found[n] ? [[id, found[n]] as const] : [])));
}

async function outcomeOf(read: SeatCall, board: string, { answer }: Message): Promise<TaskOutcome | null> {
  if (!answer) return null;
  const { message } = await read('getMessage', { message: answer.ask_id });
  const { ask } = message;
  if (!ask?.blocking || !ask.task) return null;
  const task = await read('getTask', { board, task: ask.task.id });
  return task.closed_at === null ? { ref: task.ref, blocked: task.blocked } : null;
}
