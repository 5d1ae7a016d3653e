/** Parts of the JSON that several `inbox` commands print. */
import { z } from 'zod';
import { flag, inbox, messages, named, object, seq, text } from '../../../cli/shapes.ts';

export const shownInbox = named(
  'ReadInbox',
  object({
    agent: text,
    messages,
    acked_up_to: seq.nullable(),
    more: flag,
    wrapped: z.array(text),
    bundle: text,
    work: inbox.shape.work,
    timed_out: flag.optional(),
  }),
);
