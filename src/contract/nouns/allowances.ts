/** What agents may do without asking their person. */
import { z } from 'zod';
import { byPerson, del, get, type OperationRow, put } from '../operation.ts';
import { id, nextAfter, once, time } from '../schemas.ts';
import { page } from './approvals.ts';

export const category = z.enum(['invite_people', 'add_people']);

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

export const about = 'What agents may do without asking.';

const guests = { cannot: 'let agents do anything without asking' } as const;

export const operations = {
  getAllowance: {
    ...get('/v1/me/allowance', byPerson, "What a person's agents may do without asking"),
    guests,
    answer: allowance,
  },
  setAllowance: {
    ...put('/v1/me/allowance', byPerson, "Set what a person's agents may do without asking"),
    maxBody: 16_384,
    guests,
    body: setAllowanceBody,
    errors: ['allowance_changed'],
    answer: allowance,
  },
  clearAllowance: {
    ...del('/v1/me/allowance', byPerson, "Let a person's agents do nothing more without asking"),
    guests,
    answer: allowance,
  },
  listAllowanceRevisions: {
    ...get('/v1/me/allowance/revisions', byPerson, 'List the changes of an allowance'),
    guests,
    query: listAllowanceRevisionsQuery,
    answer: allowanceRevisions,
  },
} as const satisfies Record<string, OperationRow>;
