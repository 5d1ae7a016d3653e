/** The people of the server. */
import { z } from 'zod';
import { directoryQuery, handle, id, newHandle, nextAfter, person, queryInt } from './common.ts';

export const personParam = z.object({ handle });

export const listPeopleQuery = z
  .object({ limit: queryInt(1, 500).optional(), after: directoryQuery.shape.after, handle: handle.optional() })
  .refine(({ handle: one, limit, after }) => one === undefined || (limit === undefined && after === undefined), {
    path: ['handle'],
    message: 'does not go with limit or after',
  });

/** A page of people; or, asked for by handle, what everybody may know of one. */
export const peopleAnswer = z.union([
  z.strictObject({ people: z.array(person), next_after: nextAfter }),
  z.strictObject({ id: id('hum'), handle, display_name: z.string().nullable() }),
]);

export const setRoleBody = z.strictObject({ server_role: z.enum(['admin', 'member']) });

export const renameBody = z.strictObject({ handle: newHandle });

export const personChange = z.strictObject({ person, changed: z.boolean() });
