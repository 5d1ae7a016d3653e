/** What the commands of swarms print with `--json`. */
import { z } from 'zod';
import { flag, object, problem, text } from './base.ts';

const mode = z.enum(['interactive', 'headless']);
const state = z.enum(['running', 'exited', 'unknown', 'not_started']);
const by = z.enum(['launcher', 'hand']).nullable();

const agent = {
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

const shown = z.strictObject({
  name: text,
  harness: text,
  role: text.nullable(),
  model: text.nullable(),
  launcher: text,
  mode,
  dir: text,
  argv: z.array(text),
  installed: flag,
  seat: text.nullable(),
  session: text.nullable(),
});

const listed = z.strictObject({
  swarm: text,
  board: text,
  at: z.strictObject({ name: text, url: text }),
  file: text,
  agents: z.array(text),
});

export const swarm = {
  'swarm:up': object({
    swarm: text,
    board_created: flag,
    seats_added: z.array(text),
    agents: z.array(
      z.strictObject({
        ...agent,
        action: z.enum(['started', 'resumed', 'running', 'failed']),
        problem: problem.nullable(),
      }),
    ),
    timed_out: flag,
  }),
  'swarm:ps': object({
    swarm: text.nullable(),
    file: text,
    agents: z.array(z.strictObject({ ...agent, started_at: text.nullable() })),
  }),
  'swarm:down': object({
    swarm: text.nullable(),
    agents: z.array(z.strictObject({ name: text, stopped: flag, state, by, problem: problem.nullable() })),
  }),
  'swarm:list': object({ swarms: z.array(listed) }),
  'swarm:show': object({
    swarm: text.nullable(),
    file: text,
    at: text.nullable(),
    agents: z.array(shown),
  }),
};
