/** Parts of the JSON that several `daemon` commands print. */
import { z } from 'zod';
import { flag, named, object, seatRef, seq, text } from '../../../cli/shapes.ts';

export const startedDaemon = object({ pid: z.int(), started: flag });
/** Of a handoff that did not go as it should. */
export const troubledHandoff = named(
  'TroubledHandoff',
  z.strictObject({ handoff_id: text, agent: seatRef, seqs: z.array(seq), reason: text }),
);
