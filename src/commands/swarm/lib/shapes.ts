/** Parts of the JSON that several `swarm` commands print. */
import { z } from 'zod';
import { flag, object, problem, text } from '../../../cli/shapes.ts';

const mode = z.enum(['interactive', 'headless']);
const state = z.enum(['running', 'exited', 'unknown', 'not_started']);
const by = z.enum(['launcher', 'hand']).nullable();
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

export const up = object({
  swarm: text,
  board_created: flag,
  seats_added: z.array(text),
  agents: z.array(
    /** `action`: what was done now. */
    agent.extend({ action: z.enum(['started', 'resumed', 'running', 'failed']), problem: problem.nullable() }),
  ),
  timed_out: flag,
});

/** `stopped`: it ran, and was stopped now. */
export const down = object({
  swarm: text.nullable(),
  agents: z.array(z.strictObject({ name: text, stopped: flag, state, by, problem: problem.nullable() })),
});

/** `swarm`: null where nothing of it was ever started here. */
export const ps = object({
  swarm: text.nullable(),
  file: text,
  agents: z.array(agent.extend({ started_at: text.nullable() })),
});

const shown = z.strictObject({
  name: text,
  harness: text,
  role: text.nullable(),
  model: text.nullable(),
  launcher: text,
  mode,
  dir: text,
  /** As it would be run anew; what it is told first stands as `{prompt}`. */
  argv: z.array(text),
  /** Whether the program is there. */
  installed: flag,
  seat: text.nullable(),
  /** The session that holds its seat, or held it last. */
  session: text.nullable(),
});

/** `at`: as the file names it, or where it was started. */
export const show = object({ swarm: text.nullable(), file: text, at: text.nullable(), agents: z.array(shown) });
