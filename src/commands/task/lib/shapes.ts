/** Parts of the JSON that several `task` commands print. */
import { z } from 'zod';
import { agentLine, answer, inbox, named, object, task, text } from '../../../cli/shapes.ts';

const taskRef = inbox.shape.work.shape.oldest_open;
export const changedTask = named(
  'ChangedTask',
  object({
    task,
    line: agentLine,
    /** What nobody has picked up, after a task was closed. */
    next: taskRef,
    nudges: z.array(z.strictObject({ code: text, text })),
  }),
);

export const startedTask = named(
  'StartedTask',
  object({ ...changedTask.shape, overlaps: answer('startTask').shape.overlaps }),
);
