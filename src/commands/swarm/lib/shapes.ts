/** Parts of the JSON that several `swarm` commands print. */
import { z } from 'zod';
import { flag, text } from '../../../cli/shapes.ts';

export const mode = z.enum(['interactive', 'headless']);
export const state = z.enum(['running', 'exited', 'unknown', 'not_started']);
export const by = z.enum(['launcher', 'hand']).nullable();
export const agent = {
  name: text,
  harness: text,
  launcher: text,
  mode,
  seat: text.nullable(),
  state,
  by,
  seated: flag,
  session: text.nullable(),
  turn: z.enum(['idle', 'busy', 'unknown']).nullable(),
  attach: text.nullable(),
  blocked: text.nullable(),
};
