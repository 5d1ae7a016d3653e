/** Parts of the JSON that several `swarm` commands print. */
import { z } from 'zod';
import { flag, problem, text } from '../../../cli/shapes.ts';

export const mode = z.enum(['interactive', 'headless']);
export const state = z.enum(['running', 'exited', 'unknown', 'not_started']);
export const by = z.enum(['launcher', 'hand']).nullable();
export const agent = z.strictObject({
  name: text,
  harness: text,
  launcher: text,
  mode,
  /** `mem_…`; null where it has no seat yet. */
  seat: text.nullable(),
  state,
  by,
  /** Whether an open session holds its seat. */
  seated: flag,
  /** The session that holds it, as `<harness>:<id>`. */
  session: text.nullable(),
  turn: z.enum(['idle', 'busy', 'unknown']).nullable(),
  /** How its person looks at it. */
  attach: text.nullable(),
  /** What keeps it from its work: as its launcher says it, or the daemon. */
  blocked: text.nullable(),
});

/** An agent that `swarm up` started, or found running; `action`: what was done now. */
export const upAgent = agent.extend({
  action: z.enum(['started', 'resumed', 'running', 'failed']),
  problem: problem.nullable(),
});
