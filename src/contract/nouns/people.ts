/** The people of the server. */
import { z } from 'zod';
import { byMember, del, get, type OperationRow, patch, post } from '../operation.ts';
import { directoryQuery, handle, id, newHandle, nextAfter, person, queryBool, queryInt } from '../schemas.ts';

export const personParam = z.object({ handle });

/** The id names the person also where their handle changes. */
const handleOrId = z.object({ handle: z.union([handle, id('hum')]) });

export const listPeopleQuery = z
  .object({ limit: queryInt(1, 500).optional(), after: directoryQuery.shape.after, handle: handle.optional() })
  .refine(({ handle: one, limit, after }) => one === undefined || (limit === undefined && after === undefined), {
    path: ['handle'],
    message: 'does not go with limit or after',
  });

/** A page of people; with a handle, the public fields of one person. */
export const peopleAnswer = z.union([
  z.strictObject({ people: z.array(person), next_after: nextAfter }),
  z.strictObject({ id: id('hum'), handle, display_name: z.string().nullable() }),
]);

export const setRoleBody = z.strictObject({ server_role: z.enum(['admin', 'member']) });

export const renameBody = z.strictObject({ handle: newHandle });

export const personChange = z.strictObject({ person, changed: z.boolean() });

/** Includes a warning if no admin is left who can manage the server. */
export const roleChange = personChange.extend({ warning: z.string().optional() });

export const removePersonQuery = z.object({ dry_run: queryBool.default(false) });

/** Includes the same warning. */
export const personRemoval = z.strictObject({
  person,
  dry_run: z.boolean(),
  keys_revoked: z.int().min(0),
  browser_sessions_ended: z.int().min(0),
  agents_removed: z.int().min(0),
  boards_left: z.int().min(0),
  owners_passed: z.int().min(0),
  unreachable_boards: z.array(id('brd')),
  warning: z.string().optional(),
});

export const about = 'The people of the server.';

export const operations = {
  listPeople: {
    ...get('/v1/people', byMember, 'List the people of the server, or find one by handle'),
    agentsNeed: 'handle',
    guests: { cannot: 'list or look up the people of this server' },
    query: listPeopleQuery,
    errors: ['person_not_found'],
    answer: peopleAnswer,
  },
  setPersonRole: {
    ...patch('/v1/people/{handle}', ['PK'], 'Make a person an admin or a member, as an admin'),
    admins: { may: "change people's roles" },
    params: handleOrId,
    body: setRoleBody,
    errors: ['person_not_found', 'person_is_guest', 'last_admin'],
    answer: roleChange,
  },
  renamePerson: {
    ...post('/v1/people/{handle}/rename', ['PK'], "Change a person's handle: one's own, or as an admin anybody's"),
    rates: ['renames'],
    params: personParam,
    body: renameBody,
    errors: ['server_admin_required', 'guest_not_allowed', 'person_not_found', 'handle_taken'],
    answer: personChange,
  },
  removePerson: {
    ...del('/v1/people/{handle}', ['PK'], 'Remove a person from the server, as an admin'),
    admins: { may: 'remove people' },
    params: handleOrId,
    query: removePersonQuery,
    errors: ['person_not_found', 'last_admin'],
    answer: personRemoval,
  },
} as const satisfies Record<string, OperationRow>;
