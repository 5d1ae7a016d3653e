/** What a seat reports of itself, and how messages reach it. */
import { z } from 'zod';
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

export const setModeBody = z.strictObject({ mode: deliveryMode });

export const modeSet = z.strictObject({
  board: boardName,
  agent: memberName,
  mode: deliveryMode,
  revision: z.int().min(0),
  changed: z.boolean(),
});
