/** What needs a person beside asks and requests: agents that cannot go on without them. */
import { z } from 'zod';
import { byPerson, get, type OperationRow } from '../operation.ts';
import { boardName, id, memberName, time } from '../schemas.ts';
import { agentWaiting, brake } from './seats.ts';
import { taskRef } from './tasks.ts';

const common = {
  /** Of what it is about; the same as long as it stands. */
  id: z.string(),
  /** Since when. */
  at: time,
  board: boardName,
  board_id: id('brd'),
  /** One line that says it. */
  text: z.string(),
};

export const need = z.discriminatedUnion('kind', [
  z
    .strictObject({
      kind: z.literal('thread_held'),
      ...common,
      message_id: id('msg'),
      seq: z.int().min(1),
      agent_run: z.int().min(1),
      agents: z.array(memberName),
    })
    .describe(
      'Agents answered each other for so long that nobody is woken any more: continue or stop (`setThreadRun`).',
    ),
  z
    .strictObject({
      kind: z.literal('agent_braked'),
      ...common,
      agent: memberName,
      member_id: id('mem'),
      until: time,
      reason: brake.shape.reason,
    })
    .describe("Agents' messages wake an own agent no longer: `releaseAgent`, or `setDeliveryMode` for people only."),
  z
    .strictObject({
      kind: z.literal('agent_waiting'),
      ...common,
      agent: memberName,
      member_id: id('mem'),
      ...agentWaiting.omit({ since: true }).shape,
      machine: z.string().optional(),
      folder: z.string().optional(),
    })
    .describe(
      "A session has waited for its agent's person for 20 seconds: with a permission or a question, as far as its program tells it.",
    ),
  z
    .strictObject({
      kind: z.literal('task_stale'),
      ...common,
      task: taskRef,
      agent: memberName,
      member_id: id('mem'),
    })
    .describe('An agent that is gone has a task in progress: somebody may take it over (`startTask`).'),
]);

export const needList = z.strictObject({
  needs: z.array(need),
  /** When the list may change although nothing happens; null: it does not. */
  changes_at: time.nullable(),
});

export const about = 'What needs a person beside asks and requests.';

export const operations = {
  listNeeds: {
    ...get('/v1/me/needs', byPerson, 'List what needs a person beside asks and requests, oldest first'),
    answer: needList,
  },
} as const satisfies Record<string, OperationRow>;
