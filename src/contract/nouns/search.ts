/** Full-text search. */
import { z } from 'zod';
import { byMember, get, type OperationRow } from '../operation.ts';
import { boardName, id, memberName, queryInt, sentTime, text, time } from '../schemas.ts';
import { searchKinds } from '../values.ts';
import { message } from './messages.ts';
import { taskRef, taskSelector, taskState } from './tasks.ts';

export const searchQuery = z.object({
  q: text(200, 1),
  kind: z
    .string()
    .transform((value) => [...new Set(value.split(','))])
    .pipe(z.array(z.enum(searchKinds)).min(1))
    .optional()
    .describe(`Any of ${searchKinds.join(', ')}, with commas between them.`),
  /** A name no board can have is answered like a missing board. */
  board: z.string().max(80).optional(),
  from: memberName.optional(),
  task: taskSelector.optional(),
  since: sentTime.optional(),
  until: sentTime.optional(),
  sort: z.enum(['newest', 'relevance']).default('newest'),
  limit: queryInt(1, 50).default(20),
  /** By relevance a position names what was shown. */
  after: z.string().max(4096).optional(),
});

export const searchResult = z.strictObject({
  kind: z.enum(searchKinds),
  board: boardName,
  at: time,
  /** How often the words stand in it. */
  score: z.int().min(0),
  field: z.string(),
  snippet: z.string(),
  /** Half-open ranges in the snippet, in UTF-16 units. */
  matches: z.array(z.tuple([z.int().min(0), z.int().min(0)])),
  /** Exactly the one that `kind` names is present. */
  message: message.optional(),
  task: taskRef.extend({ state: taskState }).optional(),
  file: z.strictObject({ id: id('fil'), name: z.string(), version: z.int().min(1), media_type: z.string() }).optional(),
});

export const searchPage = z.strictObject({
  query: z.string(),
  results: z.array(searchResult),
  next_after: z.string().nullable(),
});

export const about = 'Search over all that the caller may read.';

export const operations = {
  search: {
    ...get('/v1/search', byMember, 'Full-text search over what the caller may read'),
    rates: ['search'],
    query: searchQuery,
    errors: ['not_on_board', 'member_not_found', 'task_not_found'],
    answer: searchPage,
  },
} as const satisfies Record<string, OperationRow>;
