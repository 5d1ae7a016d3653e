/** Notices to agents and their people about requests and invites. */
import { z } from 'zod';
import { byPerson, get, type OperationRow, post } from '../operation.ts';
import { eventActor, handle, id, memberName, nextAfter, queryInt, seq, time } from '../schemas.ts';
import { boardLabel, display, nextStep, page } from './approvals.ts';

export const noticeKind = z.enum([
  'approval_allowed',
  'approval_declined',
  'approval_expired',
  'invite_redeemed',
  'colleague_arrived',
  'pairing_changed',
  'pairing_ready',
  'pairing_closed',
  'task_taken_over',
  'line_overlap',
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
  task: z.strictObject({ id: id('tsk'), ref: z.string() }).optional(),
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

/** What arrived for a person since they last looked, apart from asks. */
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

export const about = 'What agents and people are told of requests and invites.';

export const operations = {
  listInviteNotices: {
    ...get('/v1/me/invite-notices', byPerson, 'List the invites that agents asked for'),
    guests: { cannot: 'have invites' },
    query: listInviteNoticesQuery,
    answer: inviteNoticeList,
  },
  getOnboardingInbox: {
    ...get('/v1/me/onboarding-inbox', byPerson, 'What came to a person: boards, newcomers, what waits for them'),
    guests: { cannot: 'bring anybody here' },
    answer: onboardingInbox,
  },
  listNotices: {
    ...get('/v1/me/notices', ['AG'], 'Read what an agent has not been told yet, or wait for it'),
    kind: 'wait',
    query: listNoticesQuery,
    answer: noticeList,
  },
  ackNotices: {
    ...post('/v1/me/notices/ack', ['AG'], 'Note which notices an agent was told'),
    idempotency: 'N',
    maxBody: 16_384,
    body: ackNoticesBody,
    answer: ackedNotices,
  },
} as const satisfies Record<string, OperationRow>;
