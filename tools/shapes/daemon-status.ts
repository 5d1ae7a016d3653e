/** What `service daemon status` prints: the daemon's own answer, with everything in it that there can be. */
import { z } from 'zod';
import { metrics } from '../../src/daemon/metrics.ts';
import { count, flag, named, object, seq, text } from './base.ts';

/** A seat as the daemon names it. */
export const ref = named(
  'SeatRef',
  z.strictObject({
    server: text,
    board: text,
    name: text,
    member_id: text.optional(),
    board_id: text.optional(),
  }),
);

/** Of a handoff that did not go as it should. */
const troubled = named(
  'TroubledHandoff',
  z.strictObject({ handoff_id: text, agent: ref, seqs: z.array(seq), reason: text }),
);

export const daemonStatus = object({
  pid: z.int(),
  build: z.strictObject({ version: text, commit: text.optional(), commit_time: text.optional() }),
  protocol: z.literal(1),
  started_at: text,
  instance: text,
  open_sessions: count,
  servers: z.array(
    z.strictObject({
      url: text,
      server_id: text.nullable(),
      feed: z.enum(['stream', 'poll', 'none']),
      connected: flag,
      since: text.nullable(),
      last_error: text.nullable().optional(),
    }),
  ),
  sessions: z.array(
    z.strictObject({
      key: text,
      open: flag,
      turn: z.enum(['idle', 'busy', 'unknown']),
      turned: flag,
      boot: text,
      capabilities: z.array(text),
      seats: z.array(ref),
    }),
  ),
  attention: z.array(troubled),
  stalled: z.array(troubled),
  truncated: z.array(z.strictObject({ handoff_id: text, agent: ref, seq })),
  agents: z.array(z.strictObject({ agent: ref, problem: text, since: text.nullable() })),
  bindings: z.array(z.strictObject({ agent: ref, session: text, open: flag, turned: flag })),
  metrics: z.strictObject(Object.fromEntries(metrics.map((name) => [name, z.number().min(0)]))),
});
