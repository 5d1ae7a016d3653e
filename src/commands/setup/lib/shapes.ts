/** The JSON that `setup` prints. */
import { z } from 'zod';
import { object, text } from '../../../cli/shapes.ts';

export const setupStep = z.strictObject({
  name: z.enum(['installed', 'account', 'memberships', 'harness', 'pairing', 'delivery']),
  /** `needs_you`: the person has to do something; `waiting`: somebody or something else has to. */
  state: z.enum(['done', 'needs_you', 'waiting', 'failed']),
  text,
  /** A command to run. */
  next: text.optional(),
});

export const setup = object({ steps: z.array(setupStep) });
