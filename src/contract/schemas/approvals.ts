/** What agents ask their person for, what came of it, and what they may do without asking. */
import { z } from 'zod';
import { policyChange } from './boards.ts';
import {
  boardName,
  digest,
  eventActor,
  handle,
  id,
  memberName,
  newHandle,
  nextAfter,
  queryInt,
  seq,
  text,
  time,
} from './common.ts';
import { serverInvite } from './invites.ts';

const once = (ids: readonly string[]): boolean => new Set(ids).size === ids.length;

/** What is invited to, with its defaults filled in: the person approves exactly what runs. */
const invitation = z
  .strictObject({
    ttl_seconds: z.int().min(60).max(86_400).default(86_400),
    boards: z.array(id('brd')).max(20).refine(once, 'must name each board once').default([]),
    pairing: z.strictObject({ initiating_agent_id: id('mem'), work: text(4_000, 1) }).optional(),
    suggested_handle: newHandle.optional(),
  })
  .refine((invite) => !invite.pairing || invite.boards.length === 1, 'work together begins on exactly one board');

/** Closed: nothing else can be asked for, and nothing more about it. */
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

export const category = z.enum(['invite_people', 'add_people']);

/** By whom and by what an action was allowed; events that it causes say so too. */
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

/** Labels of what the caller may see now; ids alone bind. */
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

export const allowance = z.strictObject({
  id: id('alw'),
  person_id: id('hum'),
  revision: z.int().min(0),
  categories: z.array(category),
  effective: z.array(category),
  warning: z.string().optional(),
});

export const setAllowanceBody = z.strictObject({
  categories: z.array(category).max(2).refine(once, 'must name each category once'),
  revision: z.int().min(0).optional(),
});

const allowanceRevision = z.strictObject({
  revision: z.int().min(1),
  categories: z.array(category),
  changed_at: time,
  changed_by: z.strictObject({
    with: z.enum(['key', 'browser', 'server']),
    key_id: id('key').optional(),
    session_id: id('ses').optional(),
    approval_id: id('apr').optional(),
  }),
});

export const listAllowanceRevisionsQuery = z.object(page);
export const allowanceRevisions = z.strictObject({ revisions: z.array(allowanceRevision), next_after: nextAfter });

export const noticeKind = z.enum([
  'approval_allowed',
  'approval_declined',
  'approval_expired',
  'invite_redeemed',
  'colleague_arrived',
  'pairing_changed',
  'pairing_ready',
  'pairing_closed',
]);

export const notice = z.strictObject({
  id: id('ntc'),
  kind: noticeKind,
  at: time,
  expires_at: time,
  text: z.string().max(400),
  approval_id: id('apr').optional(),
  invite_id: id('inv').optional(),
  pairing_request_id: id('prq').optional(),
  person: z.strictObject({ id: id('hum'), handle }).optional(),
  next: nextStep,
});

export const listNoticesQuery = z.object({ ...page, wait: queryInt(0, 600).default(0) });
export const noticeList = z.strictObject({ notices: z.array(notice), next_after: nextAfter });
export const ackNoticesBody = z.strictObject({ ids: z.array(id('ntc')).min(1).max(50) });
export const ackedNotices = z.strictObject({ acknowledged: z.int().min(0) });

const inviteNotice = z.strictObject({
  id: id('inv'),
  issuing_agent_id: id('mem'),
  message: z.string(),
  suggested_handle: handle.optional(),
  created_at: time,
  expires_at: time,
  state: z.enum(['active', 'redeemed', 'revoked', 'expired']),
  display: display.optional(),
  next: nextStep,
});

export const listInviteNoticesQuery = z.object(page);
export const inviteNoticeList = z.strictObject({ notices: z.array(inviteNotice), next_after: nextAfter });

/** What came to a person since they last looked, beside what they are asked. */
export const onboardingInbox = z.strictObject({
  board_adds: z.array(
    z.strictObject({
      board: boardLabel,
      added: z.strictObject({ seq, at: time, by: eventActor }),
      join_command: z.string(),
      join_prompt: z.string(),
    }),
  ),
  arrivals: z.array(
    z.strictObject({
      invite_id: id('inv'),
      person_id: id('hum'),
      handle,
      at: time,
      boards: z.array(
        z.strictObject({
          board: boardLabel,
          agents: z.array(z.strictObject({ id: id('mem'), name: memberName, harness: z.string().nullable() })),
        }),
      ),
    }),
  ),
  counts: z.strictObject({ approvals_pending: z.int().min(0), pairings_open: z.int().min(0) }),
});
