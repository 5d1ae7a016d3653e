/** Parts of the JSON that several `server` commands print. */
import { z } from 'zod';
import { flag, named, object, text } from '../../../cli/shapes.ts';

export const startedServer = named(
  'StartedServer',
  object({
    started: flag,
    replaced: z.strictObject({ from: text, to: text }).nullable(),
    pid: z.int().nullable(),
    ui_url: text,
    data_dir: text,
    version: text,
  }),
);
