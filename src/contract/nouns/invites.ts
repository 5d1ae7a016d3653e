/** Server invites, and what redeeming one gives. */
import { z } from 'zod';
import { del, get, type OperationRow, orContradicts, patch, post } from '../operation.ts';
import {
  boardName,
  clientToken,
  directoryQuery,
  displayName,
  handle,
  id,
  keyName,
  newHandle,
  nextAfter,
  once,
  person,
  text,
  time,
} from '../schemas.ts';
import { accessKey, connected } from './keys.ts';

const inviteState = z.enum(['active', 'expired', 'revoked', 'redeemed']);
const boardIds = z.array(id('brd'));

/** The part of an invite that both its issuer and its holder can read. */
const facts = {
  expires_at: time,
  boards: boardIds,
  suggested_handle: handle.optional(),
  pairing_request_id: id('prq').optional(),
};

export const createInviteBody = z.strictObject({
  ttl_seconds: z.int().min(60).max(2_592_000).default(604_800),
  boards: boardIds.max(20).refine(once, 'must name each board once').default([]),
  pairing: z.strictObject({ initiating_agent_id: id('mem'), work: text(4_000, 1) }).optional(),
  suggested_handle: newHandle.optional(),
});

/** With the secret link, in the answer that makes the invite. */
export const serverInvite = z.strictObject({
  id: id('inv'),
  invite: z.string().max(512),
  prompt: z.string().max(2_000),
  server_role: z.literal('member'),
  ...facts,
});

export const serverInviteMetadata = z.strictObject({
  id: id('inv'),
  created_at: time,
  state: inviteState,
  issuing_agent_id: id('mem').optional(),
  parent_key_id: id('key').optional(),
  ...facts,
});

export const listInvitesQuery = directoryQuery.extend({ state: inviteState.or(z.literal('all')).default('all') });
export const inviteList = z.strictObject({ invites: z.array(serverInviteMetadata), next_after: nextAfter });
export const updateInviteBody = z.strictObject({ suggested_handle: newHandle.or(z.literal('')) });
export const revokedInvite = z.strictObject({ id: id('inv'), revoked: z.literal(true), changed: z.boolean() });

export const invitePreview = z.strictObject({
  server_id: id('srv'),
  server_url: z.string(),
  server_name: z.string(),
  inviter_handle: handle,
  boards: z.array(z.strictObject({ id: id('brd'), name: boardName, title: z.string().nullable() })),
  suggested_handle: handle.optional(),
  work: z.string().optional(),
  prompt: z.string().max(2_000),
  expires_at: time,
});

export const connectBody = z.strictObject({
  invite: z.string().max(512),
  handle: text(80),
  display_name: displayName.optional(),
  key_name: keyName,
  client_token: clientToken.optional(),
});

export const onboardingReceipt = z.strictObject({
  server_id: id('srv'),
  person_id: id('hum'),
  key_id: id('key'),
  invite_id: id('inv'),
  handle,
  boards: boardIds,
  pairing_request_id: id('prq').optional(),
});

/** The answer to a client that made its own key: no secret, and what it needs if the answer is lost. */
const clientConnected = z.strictObject({
  server_id: id('srv'),
  person,
  key: accessKey,
  onboarding: onboardingReceipt,
});

export const connectResult = z.union([connected, clientConnected]);

export const about = 'Inviting people to the server.';

const guests = { cannot: 'have invites' } as const;
const ofInvite = { guests, params: z.object({ invite: id('inv') }), errors: ['invite_not_found'] } as const;

export const operations = {
  createInvite: {
    ...post('/v1/invites', ['PK'], 'Invite one person to this server, and onto boards'),
    idempotency: 'S',
    ok: [201],
    archived: 'refused',
    guests: { cannot: 'invite people' },
    admins: { may: 'invite people to this server' },
    body: createInviteBody,
    errors: ['not_on_board', 'pairing_not_found', 'limit_reached'],
    statuses: orContradicts,
    answer: serverInvite,
  },
  listInvites: {
    ...get('/v1/invites', ['PK'], "List a person's server invites and those of their agents"),
    guests,
    query: listInvitesQuery,
    answer: inviteList,
  },
  getInvite: {
    ...get('/v1/invites/{invite}', ['PK'], 'Read one server invite, without its secret'),
    ...ofInvite,
    answer: serverInviteMetadata,
  },
  updateInvite: {
    ...patch('/v1/invites/{invite}', ['PK', 'BR', 'AG'], 'Change the handle that an invite suggests'),
    ...ofInvite,
    body: updateInviteBody,
    answer: serverInviteMetadata,
  },
  revokeInvite: {
    ...del('/v1/invites/{invite}', ['PK'], 'Revoke a server invite'),
    ...ofInvite,
    answer: revokedInvite,
  },
  previewInvite: {
    ...post('/v1/invites/preview', ['IN'], 'Look at the invite that is sent as bearer, without using it up'),
    kind: 'open',
    idempotency: 'N',
    rates: ['redeem'],
    errors: ['invite_invalid'],
    answer: invitePreview,
  },
  connectPerson: {
    ...post('/v1/connect', [], 'Redeem a server invite, once: makes a member and their first key'),
    kind: 'open',
    idempotency: 'S',
    ok: [201, 200],
    rates: ['redeem'],
    body: connectBody,
    errors: ['invite_invalid', 'handle_taken', 'limit_reached', 'handle_invalid'],
    answer: connectResult,
  },
  getOnboardingReceipt: {
    ...get('/v1/me/onboarding', ['PK'], 'What became of the connect that made this key'),
    errors: ['not_found'],
    answer: onboardingReceipt,
  },
} as const satisfies Record<string, OperationRow>;
