/** Work that two people's agents are to do together: the proposal, its two endpoints, and the proof that they reach each other. */
import { z } from 'zod';
import { display, nextStep, page } from './approvals.ts';
import { digest, id, nextAfter, proofToken, text, time } from './common.ts';

export const pairingState = z.enum([
  'awaiting_account',
  'awaiting_session',
  'awaiting_endpoint',
  'verifying',
  'ready',
  'declined',
  'cancelled',
  'expired',
]);
export const pairingSide = z.enum(['initiator', 'recipient']);
/** Who pings whom. */
export const pairingDirection = z.enum(['initiator_to_recipient', 'recipient_to_initiator']);
const generation = z.int().min(1);
const progress = z.enum(['ping', 'reply', 'report', 'done']);

const endpoint = z.strictObject({
  person_id: id('hum'),
  agent_id: id('mem'),
  generation,
  live: z.boolean(),
  /** Shown to its own side only. */
  session_binding: digest.optional(),
});

const challenge = z.strictObject({
  direction: pairingDirection,
  generation,
  nonce: z.string().regex(/^[0-9A-HJKMNP-TV-Z]{26}$/),
  after_seq: z.int().min(0),
  ping_text: z.string(),
  reply_line: z.string(),
});

export const pairingRequest = z.strictObject({
  id: id('prq'),
  server_id: id('srv'),
  board_id: id('brd'),
  inviter_id: id('hum'),
  initiating_agent_id: id('mem'),
  recipient_id: id('hum').optional(),
  invite_id: id('inv').optional(),
  work: z.string(),
  state: pairingState,
  generation,
  initiator: endpoint.optional(),
  recipient: endpoint.optional(),
  accepted: z.boolean(),
  awaiting: z.enum(['initiator', 'recipient', 'both']).optional(),
  progress: z.strictObject({ initiator_to_recipient: progress, recipient_to_initiator: progress }).optional(),
  challenge: challenge.optional(),
  chosen_recipient_agent_id: id('mem').optional(),
  choice_message_id: id('msg').optional(),
  admission_approval_id: id('apr').optional(),
  closed_reason: z
    .enum(['declined', 'cancelled', 'timeout', 'invite_ended', 'admission_refused', 'person_ended', 'board_deleted'])
    .optional(),
  created_at: time,
  expires_at: time,
  closed_at: time.optional(),
  display: display.optional(),
  next: nextStep.optional(),
});

export const createPairingBody = z.strictObject({
  board_id: id('brd'),
  recipient_id: id('hum'),
  initiating_agent_id: id('mem'),
  work: text(4_000, 1),
});

export const listPairingQuery = z.object({ ...page, state: z.enum(['open', 'closed', 'all']).default('open') });
export const pairingList = z.strictObject({ requests: z.array(pairingRequest), next_after: nextAfter });

export const choosePairingBody = z.strictObject({
  agent_id: id('mem'),
  generation,
  replace: z.boolean().default(false),
});

export const selectEndpointBody = z.strictObject({
  request_id: id('prq'),
  side: pairingSide,
  agent_id: id('mem'),
  session_binding: digest,
  generation,
  replace: z.boolean().default(false),
  client_token: proofToken,
});

export const pairingCredential = z.strictObject({
  id: id('pcr'),
  request: pairingRequest,
  side: pairingSide,
  endpoint,
  expires_at: time,
});

export const acceptPairingBody = z.strictObject({ agent_id: id('mem'), generation });

export const verifyPairingBody = z.strictObject({
  generation,
  direction: pairingDirection,
  ping_seq: z.int().min(1),
  reply_seq: z.int().min(1),
  handoff_id: text(200, 1),
});
