/** Lists of asks. */
import { z } from 'zod';
import { byMember, get, type OperationRow } from '../operation.ts';
import { queryBool, queryInt } from '../schemas.ts';
import { message } from './messages.ts';
import { taskSelector } from './tasks.ts';

export const listAsksQuery = z.object({
  /** A name no board can have is answered like a missing one. */
  board: z.string().max(80).optional(),
  to_me: queryBool.default(false),
  from_me: queryBool.default(false),
  can_answer: queryBool.default(false),
  state: z.enum(['open', 'answered', 'withdrawn', 'went_with', 'all']).default('open'),
  task: taskSelector.optional(),
  limit: queryInt(1, 200).default(50),
  after: z.string().max(400).optional(),
});

export const askList = z.strictObject({ asks: z.array(message), next_after: z.string().nullable() });

export const about = 'Questions whose answers are on record.';

export const operations = {
  listAsks: {
    ...get('/v1/asks', byMember, 'List asks: to the caller, from the caller, or that they may answer'),
    query: listAsksQuery,
    errors: ['not_on_board', 'task_not_found'],
    answer: askList,
  },
} as const satisfies Record<string, OperationRow>;
