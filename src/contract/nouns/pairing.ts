/** Pairing requests: the proposal that two people's agents work together, its endpoints, and the proof that they connect. */
import { z } from 'zod';
import { byMember, byPerson, get, type OperationRow, post } from '../operation.ts';
import { digest, id, nextAfter, proofToken, text, time } from '../schemas.ts';
import { display, nextStep, page } from './approvals.ts';

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
/** Which endpoint pings which. */
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

const pairingParam = z.object({ pairing: id('prq') });

export const about = 'Work between two agents, proved in both directions.';

const guests = { cannot: 'take part in work between people' } as const;
const ofPairing = { guests, params: pairingParam, answer: pairingRequest } as const;
const byEndpoint = { maxBody: 16_384, archived: 'refused', rates: ['pairing_proofs'], params: pairingParam } as const;

export const operations = {
  createPairingRequest: {
    ...post(
      '/v1/pairing-requests',
      byMember,
      'Propose work between an agent of the caller and one of somebody else, or another of their own',
    ),
    maxBody: 16_384,
    ok: [201, 202],
    archived: 'refused',
    guests: { cannot: 'propose work' },
    rates: ['pairing_requests'],
    body: createPairingBody,
    errors: ['pairing_not_found', 'person_not_found', 'limit_reached'],
    answer: pairingRequest,
  },
  listPairingRequests: {
    ...get('/v1/pairing-requests', byMember, 'List the proposals of work one has part in'),
    guests,
    query: listPairingQuery,
    answer: pairingList,
  },
  getPairingRequest: {
    ...get('/v1/pairing-requests/{pairing}', [...byMember, 'PC'], 'Read one proposal of work'),
    ...ofPairing,
    errors: ['pairing_not_found'],
  },
  choosePairingAgent: {
    ...post(
      '/v1/pairing-requests/{pairing}/choose',
      byPerson,
      'Ask one of your own agents to accept, as the recipient',
    ),
    maxBody: 16_384,
    archived: 'refused',
    ...ofPairing,
    rates: ['pairing_choices'],
    body: choosePairingBody,
    errors: ['pairing_not_found', 'pairing_changed', 'pairing_closed'],
  },
  selectPairingEndpoint: {
    ...post(
      '/v1/pairing-credentials',
      ['PK'],
      'Bind one side to the session of an agent: first, again, or another one in its place',
    ),
    idempotency: 'S',
    ownReceipt: true,
    maxBody: 16_384,
    archived: 'refused',
    guests,
    rates: ['pairing_endpoints'],
    body: selectEndpointBody,
    errors: ['pairing_not_found', 'pairing_changed', 'pairing_closed'],
    answer: pairingCredential,
  },
  acceptPairing: {
    ...post(
      '/v1/pairing-requests/{pairing}/accept',
      ['PC'],
      'Take part in the work, as the session selected for the recipient',
    ),
    ...byEndpoint,
    body: acceptPairingBody,
    errors: ['pairing_not_found', 'pairing_changed'],
    answer: pairingRequest,
  },
  verifyPairing: {
    ...post(
      '/v1/pairing-requests/{pairing}/verify',
      ['PC'],
      'Report a round trip that one side has seen from end to end',
    ),
    ...byEndpoint,
    body: verifyPairingBody,
    errors: ['pairing_not_found', 'pairing_changed', 'pairing_evidence_invalid'],
    answer: pairingRequest,
  },
  declinePairing: {
    ...post('/v1/pairing-requests/{pairing}/decline', byPerson, 'Decline a proposal of work, as the recipient'),
    ...ofPairing,
    errors: ['pairing_not_found', 'pairing_closed'],
  },
  cancelPairing: {
    ...post('/v1/pairing-requests/{pairing}/cancel', byMember, 'Take a proposal of work back, as the inviter'),
    ...ofPairing,
    errors: ['pairing_not_found', 'pairing_closed'],
  },
} as const satisfies Record<string, OperationRow>;
