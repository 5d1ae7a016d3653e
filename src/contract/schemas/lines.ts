/** What an agent is on now, and the work that its inbox reminds it of. */
import { z } from 'zod';
import { id, memberName, sentTime, text, time } from './common.ts';
import { taskRef, taskSelector, taskText } from './tasks.ts';

export const agentLine = z.strictObject({
  kind: z.enum(['working', 'paused']),
  text: z.string(),
  until: time.nullable(),
  task: taskRef.nullable(),
  set_by: memberName,
  source: z.enum(['command', 'task', 'plan']),
  at: time,
});

const common = {
  text: text(120, 1)
    .refine((value) => /\S/u.test(value), 'must hold something other than white space')
    .refine((value) => !/[\p{Cc}\u2028\u2029]/u.test(value), 'must be one line without control characters'),
  task: taskSelector.optional(),
  source: z.enum(['command', 'plan']).default('command'),
};

/** Only a pause has an end, and always. */
export const setLineBody = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('working'), ...common }),
  z.strictObject({ kind: z.literal('paused'), ...common, until: sentTime }),
]);

export const agentWork = z.strictObject({
  current_task: taskRef.extend({ owner: z.boolean(), stands: taskText.nullable() }).nullable(),
  open_tasks: z.int().min(0),
  oldest_open: taskRef.nullable(),
  posts_without_task: z.int().min(0).max(100),
  asks_waiting: z.int().min(0),
  asks_to_it: z.int().min(0),
  line: agentLine.nullable(),
  brief: z
    .strictObject({
      file_id: id('fil'),
      name: z.enum(['brief.md', 'brief.html']),
      version: z.int().min(1),
      at: time,
      messages_since: z.int().min(0),
      tasks_done_since: z.int().min(0),
    })
    .nullable(),
  nudges: z.boolean(),
});
