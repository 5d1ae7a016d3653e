/** The JSON of a check of a record. */
import { z } from 'zod';
import { count, flag, object, seq, text } from '../../../cli/shapes.ts';

export const verified = object({
  ok: flag,
  server_id: text,
  board_id: text,
  events: count,
  head_seq: seq.nullable(),
  head_hash: text.nullable(),
  payloads_checked: count,
  payloads_withheld: count,
  problem: z.strictObject({ seq, problem: text }).nullable(),
  pinned: z.strictObject({ seq, hash: text, matches: flag }).nullable(),
  /** The board that was checked under this name before. */
  pinned_board: z.strictObject({ server_id: text, board_id: text, matches: flag }).nullable(),
});
