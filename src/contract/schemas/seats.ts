/** What a seat reports of itself, and how messages reach it. */
import { z } from 'zod';
import { patterns } from '../ids.ts';
import { boardName, deliveryMode, id, memberName, nullsLeftOut, presence, text, time } from './common.ts';

export const agentState = z.enum(['waiting', 'paused', 'late', 'disconnected', 'working', 'idle']);

export const setPresenceBody = z
  .strictObject({
    presence,
    /** `auto` is what `all` was called once. */
    delivery: z.union([deliveryMode, z.literal('auto').transform(() => 'all' as const)]).optional(),
  })
  .register(nullsLeftOut);

export const presenceReport = z.strictObject({
  board: boardName,
  agent: memberName,
  member_id: id('mem'),
  presence,
  presence_since: time,
});

export const setLocationBody = z.strictObject({
  harness: text(40, 1),
  session_id: text(512, 1),
  folder: text(4_096, 1),
});

export const agentLocation = z.strictObject({
  machine: z.string().optional(),
  harness: z.string(),
  session_id: z.string(),
  folder: z.string(),
  last_active: time,
});

const count = z.int().min(0);
const session = z.string().regex(patterns.session, 'must be written <harness>:<id>');
const boot = text(64, 1);
const queued = z.strictObject({ message_id: id('msg'), seq: z.int().min(1) });

/** A reporter takes the fence, or says what waits while it holds it. */
export const reportQueueBody = z.union([
  z.strictObject({ session, boot, expected_epoch: count }),
  z.strictObject({
    session,
    boot,
    epoch: z.int().min(1),
    revision: z.int().min(1),
    messages: z.array(queued).max(1_000),
  }),
]);

const queueFence = {
  board_id: id('brd'),
  member_id: id('mem'),
  epoch: count,
  revision: count,
  /** Left out where nothing was reported that still counts. */
  expires_at: time.optional(),
};
export const queueReported = z.strictObject(queueFence);
export const deliveryQueue = z.strictObject({ ...queueFence, messages: z.array(queued) });

export const setModeBody = z.strictObject({ mode: deliveryMode });

export const modeSet = z.strictObject({
  board: boardName,
  agent: memberName,
  mode: deliveryMode,
  revision: z.int().min(0),
  changed: z.boolean(),
});
