/** Parts of the JSON that several `servers` commands print. */
import { z } from 'zod';
import { count, flag, text } from '../../../cli/shapes.ts';

export const knownServer = z.strictObject({
  name: text,
  url: text,
  local: flag,
  default: flag,
  handle: text.nullable(),
  key: text.nullable(),
  seats: count,
});
