/** A machine that asks for a key of its own, and its person who decides. */
import { z } from 'zod';
import { patterns } from '../ids.ts';
import { keyName, person, text, time } from './common.ts';
import { connected } from './connect.ts';

export const createMachineRequestBody = z.strictObject({ handle: text(80, 1), label: keyName });

const pollInterval = z.int().min(1);

export const newMachineRequest = z.strictObject({
  code: z.string().regex(patterns.shortCode),
  secret: z.string().regex(patterns.collectSecret),
  expires_at: time,
  poll_interval_seconds: pollInterval,
});

export const machineCodeBody = z.strictObject({ code: z.string().max(20) });

export const machineRequest = z.strictObject({
  label: keyName,
  state: z.enum(['pending', 'approved', 'refused']),
  requested_from: z.string(),
  created_at: time,
  expires_at: time,
  person,
});

export const collectMachineKeyBody = z.strictObject({
  secret: z.string().max(256),
  wait_seconds: z.int().min(0).max(25).default(0),
});

const stillPending = z.strictObject({
  state: z.literal('pending'),
  expires_at: time,
  poll_interval_seconds: pollInterval,
});

export const machineKey = z.union([connected, stillPending]);
