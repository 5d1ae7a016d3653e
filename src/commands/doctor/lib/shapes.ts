/** The JSON that `doctor` prints. */
import { z } from 'zod';
import { object, text } from '../../../cli/shapes.ts';

export const finding = z.strictObject({
  /** What was looked at, such as `server team` or `files`. */
  name: text,
  /** A `note` is worth knowing and nothing to mend. */
  level: z.enum(['ok', 'note', 'warning', 'error']),
  /** Null where all is well. */
  code: text.nullable(),
  message: text,
  /** A command that mends it; null where there is none, or nothing to mend. */
  fix: text.nullable(),
});

export const diagnosis = object({ checks: z.array(finding), fixed: z.array(text) });
