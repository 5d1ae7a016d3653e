/** Approvals: what agents ask their person for, the decisions, and what agents may do without asking. */
import { z } from 'zod';
import { byMember, byPerson, get, type OperationRow, post } from '../operation.ts';
import {
  boardName,
  digest,
  handle,
  id,
  memberName,
  newHandle,
  nextAfter,
  once,
  queryInt,
  text,
  time,
} from '../schemas.ts';
import { policyChange } from './boards.ts';
import { serverInvite } from './invites.ts';

/** An invitation with its defaults filled in: the person approves exactly what runs. */
const invitation = z
  .strictObject({
    ttl_seconds: z.int().min(60).max(86_400).default(86_400),
    boards: z.array(id('brd')).max(20).refine(once, 'must name each board once').default([]),
    pairing: z.strictObject({ initiating_agent_id: id('mem'), work: text(4_000, 1) }).optional(),
    suggested_handle: newHandle.optional(),
  })
  .refine((invite) => !invite.pairing || invite.boards.length === 1, 'work together begins on exactly one board');

/** A closed list of actions with strict fields: an agent can ask for nothing else. */
export const adminAction = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('invite_people'), invite: invitation }),
  z.strictObject({ kind: z.literal('add_people'), board_id: id('brd'), person_id: id('hum') }),
  z.strictObject({ kind: z.literal('set_server_role'), person_id: id('hum'), role: z.enum(['admin', 'member']) }),
  z.strictObject({
    kind: z.literal('set_board_role'),
    board_id: id('brd'),
    person_id: id('hum'),
    role: z.enum(['owner', 'member']),
  }),
  z.strictObject({ kind: z.literal('remove_person'), person_id: id('hum'), board_id: id('brd').optional() }),
  z.strictObject({ kind: z.literal('revoke_key'), key_id: id('key') }),
  z.strictObject({ kind: z.literal('set_board_policy'), board_id: id('brd'), policy: policyChange }),
]);

/** Who or what allowed an action; events that it causes carry the same field. */
export const authorization = z.strictObject({
  kind: z.enum(['invited', 'added', 'role_changed']).optional(),
  person_id: id('hum'),
  agent_id: id('mem'),
  parent_key_id: id('key'),
  via: z.enum(['approval', 'allowance']),
  payload_hash: digest,
  approval_id: id('apr'),
  allowance_id: id('alw').optional(),
  allowance_revision: z.int().min(1).optional(),
});

export const boardLabel = z.strictObject({ id: id('brd'), name: boardName, title: z.string().nullable() });

/** Labels that the caller may see now, for display only; the ids are authoritative. */
export const display = z.strictObject({
  person_handle: handle.optional(),
  agent_name: memberName.optional(),
  agent_harness: z.string().optional(),
  target_handle: handle.optional(),
  key_name: z.string().optional(),
  recipient_handle: handle.optional(),
  recipient_agent_name: memberName.optional(),
  requested_on: boardLabel.optional(),
  boards: z.array(boardLabel),
});

export const nextStep = z.strictObject({
  command: z.string().min(1).max(2_000),
  resume: z.string().min(1).max(500),
  board_view: z.string().optional(),
});

export const approval = z.strictObject({
  id: id('apr'),
  person_id: id('hum'),
  agent_id: id('mem'),
  parent_key_id: id('key'),
  action: adminAction,
  payload_hash: digest,
  state: z.enum(['pending', 'executed', 'declined', 'expired']),
  created_at: time,
  expires_at: time,
  decided_at: time.optional(),
  decision: z.enum(['once', 'always', 'allowance']).optional(),
  closed_reason: z.enum(['timeout', 'requester_ended', 'key_ended', 'person_ended']).optional(),
  execution: z
    .strictObject({
      at: time,
      effect: z.enum(['applied', 'already']),
      authorization,
      invite_id: id('inv').optional(),
    })
    .optional(),
  outcome: z.strictObject({ state: z.enum(['none', 'held', 'collected', 'cleared']), until: time.optional() }),
  display: display.optional(),
  next: nextStep.optional(),
});

export const adminActionResult = z.strictObject({
  state: z.enum(['pending', 'executed']),
  approval,
  next: nextStep.optional(),
  invite: serverInvite.optional(),
  warning: z.string().optional(),
});

export const approvalOutcome = z.strictObject({
  approval,
  collected: z.boolean(),
  recovered: z.literal(true).optional(),
  invite: serverInvite.optional(),
  pairing_request_id: id('prq').optional(),
});

/** A page of the lists of this area. */
export const page = { limit: queryInt(1, 100).default(50), after: z.string().max(200).optional() };

export const listApprovalsQuery = z.object({ ...page, state: z.enum(['pending', 'decided', 'all']).default('all') });
export const approvalList = z.strictObject({ approvals: z.array(approval), next_after: nextAfter });
export const allowBody = z.strictObject({ always: z.boolean().default(false) });

const approvalParam = z.object({ approval: id('apr') });

export const about = 'What agents ask their person for.';

const guests = { cannot: 'ask for anything' } as const;

/** With what the action itself may be refused. */
const actionErrors = [
  'server_admin_required',
  'owner_required',
  'not_on_board',
  'person_not_found',
  'person_not_on_board',
  'key_not_found',
  'approval_closed',
  'person_is_guest',
  'last_owner',
  'last_admin',
  'pairing_not_found',
  'limit_reached',
] as const;

export const operations = {
  requestAdminAction: {
    ...post(
      '/v1/me/admin-requests',
      ['AG'],
      "Ask the agent's person to allow an action, or do it where they allow it always",
    ),
    idempotency: 'S',
    ownReceipt: true,
    maxBody: 16_384,
    ok: [202, 201, 200],
    archived: 'refused',
    guests,
    rates: ['admin_requests', 'admin_requests_of_person'],
    body: adminAction,
    errors: [...actionErrors, 'already_on_board', 'no_change', 'idempotency_conflict'],
    answer: adminActionResult,
  },
  listApprovals: {
    ...get('/v1/me/approvals', byMember, 'List what agents asked their person for'),
    guests,
    query: listApprovalsQuery,
    answer: approvalList,
  },
  getApproval: {
    ...get('/v1/me/approvals/{approval}', byMember, 'Read one request of an agent'),
    guests,
    params: approvalParam,
    errors: ['approval_not_found'],
    answer: approvalOutcome,
  },
  allowApproval: {
    ...post('/v1/me/approvals/{approval}/allow', byPerson, 'Allow what an agent asked for; it is done at once'),
    idempotency: 'S',
    maxBody: 16_384,
    ok: [200, 201, 202],
    guests: { cannot: 'allow anything' },
    rates: ['decisions'],
    params: approvalParam,
    body: allowBody,
    errors: [...actionErrors, 'approval_not_found', 'board_archived'],
    answer: adminActionResult,
  },
  declineApproval: {
    ...post('/v1/me/approvals/{approval}/decline', byPerson, 'Decline what an agent asked for'),
    guests: { cannot: 'decline anything' },
    rates: ['decisions'],
    params: approvalParam,
    errors: ['approval_not_found', 'approval_closed'],
    answer: approval,
  },
  collectApproval: {
    ...post(
      '/v1/me/approvals/{approval}/collect',
      ['AG'],
      'Collect the invite that was allowed, once, as the agent that asked for it',
    ),
    idempotency: 'R',
    ownReceipt: true,
    guests: { cannot: 'collect anything' },
    rates: ['collections'],
    params: approvalParam,
    errors: ['server_admin_required', 'approval_not_found', 'board_archived'],
    answer: approvalOutcome,
  },
} as const satisfies Record<string, OperationRow>;
