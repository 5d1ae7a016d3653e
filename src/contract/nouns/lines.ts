/** What an agent is working on now, and the open work that its inbox lists. */
import { z } from 'zod';
import { byPerson, del, type OperationRow, put } from '../operation.ts';
import { oneLine, sentTime } from './common.ts';
import { memberRecord } from './members.ts';
import { taskSelector } from './tasks.ts';

const common = {
  text: oneLine(120, 1).refine((value) => /\S/u.test(value), 'must hold something other than white space'),
  task: taskSelector.optional(),
  source: z.enum(['command', 'plan']).default('command'),
};

/** Required for a pause, absent otherwise. */
export const setLineBody = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('working'), ...common }),
  z.strictObject({ kind: z.literal('paused'), ...common, until: sentTime }),
]);

export const about = 'What an agent is on now.';

export const operations = {
  setMyLine: {
    ...put('/v1/me/line', ['AG'], 'Say what the agent is on now'),
    rates: ['lines'],
    body: setLineBody,
    errors: ['task_not_found', 'line_until_past'],
    answer: memberRecord,
  },
  clearMyLine: {
    ...del('/v1/me/line', ['AG'], 'Say no longer what the agent is on'),
    answer: memberRecord,
  },
  setAgentLine: {
    ...put('/v1/boards/{board}/members/{member}/line', byPerson, 'Say what an own agent is on now'),
    rates: ['lines'],
    body: setLineBody,
    errors: ['agent_owner_required', 'not_on_board', 'member_not_found'],
    answer: memberRecord,
  },
  clearAgentLine: {
    ...del('/v1/boards/{board}/members/{member}/line', byPerson, 'Say no longer what an own agent is on'),
    errors: ['not_on_board', 'member_not_found'],
    answer: memberRecord,
  },
} as const satisfies Record<string, OperationRow>;
