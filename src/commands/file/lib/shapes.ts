/** Parts of the JSON that several `file` commands print. */
import { z } from 'zod';
import { boardFile, count, fileDetail, flag, named, object } from '../../../cli/shapes.ts';

export const oneFile = named('OneFile', object({ file: boardFile }));
export const putFile = named(
  'PutFile',
  object({ file: z.union([boardFile, fileDetail]), version: count, replaces: count, changed: flag }),
);
