/** A machine that asks for a key of its own, and its person who decides. */
import { z } from 'zod';
import { patterns } from '../ids.ts';
import { type OperationRow, post } from '../operation.ts';
import { keyName, person, text, time } from '../schemas.ts';
import { connected } from './keys.ts';

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

export const about = 'Keys for further machines, by short code.';

const byCode = {
  guests: { cannot: 'add machines' },
  rates: ['machine_codes'],
  body: machineCodeBody,
  errors: ['machine_request_invalid'],
  answer: machineRequest,
} as const;

export const operations = {
  createMachineRequest: {
    ...post('/v1/machine-requests', [], 'Ask for a key for this machine; the person it is for approves the short code'),
    kind: 'open',
    idempotency: 'S',
    ok: [201],
    rates: ['machine_requests'],
    body: createMachineRequestBody,
    answer: newMachineRequest,
  },
  lookUpMachineRequest: {
    ...post('/v1/machine-requests/lookup', ['PK'], 'Read which machine a short code stands for'),
    kind: 'read',
    idempotency: 'N',
    ...byCode,
  },
  approveMachineRequest: {
    ...post('/v1/machine-requests/approve', ['PK'], 'Let the machine behind a short code collect a key of your own'),
    ...byCode,
  },
  refuseMachineRequest: {
    ...post('/v1/machine-requests/refuse', ['PK'], 'Refuse the machine behind a short code'),
    ...byCode,
  },
  collectMachineKey: {
    ...post('/v1/machine-requests/collect', [], "Collect the approved machine's key, once, or wait for the decision"),
    kind: 'open',
    idempotency: 'S',
    ok: [201, 202],
    rates: ['machine_collect'],
    body: collectMachineKeyBody,
    errors: ['machine_request_refused', 'machine_request_invalid', 'limit_reached'],
    answer: machineKey,
  },
} as const satisfies Record<string, OperationRow>;
