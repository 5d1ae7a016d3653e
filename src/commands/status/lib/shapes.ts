/** The JSON that `status` prints. */
import { z } from 'zod';
import { answer, count, flag, inbox, object, problem, text } from '../../../cli/shapes.ts';

export const status = object({
  server_running: flag,
  /** This machine's delivery daemon; why it could not be asked, where it was not simply absent. */
  daemon: z.strictObject({
    running: flag,
    pid: z.int().nullable(),
    version: text.nullable(),
    problem: text.nullable(),
  }),
  /** The agent programs that `init` has written something for, and where. */
  setup: z.array(z.strictObject({ harness: text, scope: z.enum(['global', 'project']) })),
  board_source: z.enum(['flag', 'env', 'project_file', 'only', 'agent', 'none']),
  agent: text.nullable(),
  agent_source: z.enum(['flag', 'token', 'env', 'session', 'none']),
  /** How messages reach the agent, and what its session does. */
  delivery: inbox.shape.delivery_mode.nullable(),
  presence: answer('getMember').shape.presence,
  /** What the agent is on. */
  current_task: inbox.shape.work.shape.oldest_open,
  line: inbox.shape.work.shape.line,
  policy: z.strictObject({ preset: text, visibility: text }).nullable(),
  people: count.nullable(),
  unread: count.nullable(),
  seats: z.array(z.strictObject({ agent: text, board: text, server: text, member_id: text })),
  /** The part of a session that runs this, which may only read. */
  subagent: text.optional(),
  problem: problem.nullable(),
});
