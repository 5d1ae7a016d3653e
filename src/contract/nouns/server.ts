/** Server information, the caller, and the server's settings. */
import { z } from 'zod';
import { byMember, byPerson, get, type OperationRow, orContradicts, patch, put } from '../operation.ts';
import { boardName, deliveryMode, displayName, handle, id, midturnPolicy, serverRole } from '../schemas.ts';
import { taskRef } from './tasks.ts';

export const serverInfo = z.strictObject({
  name: z.literal('service'),
  version: z.string(),
  commit: z.string().optional(),
  commit_time: z.string().optional(),
  server_id: id('srv'),
  mode: z.enum(['local', 'team']),
  features: z.array(z.string()),
  storage: z.strictObject({ db: z.enum(['sqlite', 'postgres']), files: z.enum(['disk', 'db', 's3']) }),
});

export const me = z.strictObject({
  id: z.union([id('hum'), id('mem')]),
  kind: z.enum(['human', 'agent']),
  name: z.string(),
  board: boardName.nullable(),
  owner: handle.nullable(),
  browser: z.boolean(),
  server_role: serverRole.nullable(),
  display_name: z.string().nullable(),
  delivery_mode: deliveryMode.nullable(),
  delivery_revision: z.int().min(0).nullable(),
  current_task: taskRef.nullable(),
});

export const updateMeBody = z.strictObject({ display_name: displayName.nullable() });

export const setMidturnBody = z.strictObject({ policy: midturnPolicy.nullable(), member_id: id('mem').optional() });

export const midturn = z.strictObject({
  policy: midturnPolicy,
  source: z.enum(['person_default', 'agent_override']),
  changed: z.boolean().optional(),
  /** Of a person's own active agents; an agent does not get it. */
  overrides: z.array(z.strictObject({ member_id: id('mem'), policy: midturnPolicy })).optional(),
});

export const settings = z.strictObject({
  board_creation: z.enum(['members', 'admins']),
  agents_add_people: z.boolean(),
});

export const updateSettingsBody = settings
  .partial()
  .refine((body) => Object.keys(body).length > 0, 'must name at least one setting');

export const about = 'This server, who calls it, and their settings.';

export const operations = {
  getInfo: {
    ...get('/v1/info', [], 'Server identity, build version and features'),
    kind: 'info',
    answer: serverInfo,
  },
  getMe: {
    ...get('/v1/me', byMember, 'Who the credential belongs to'),
    answer: me,
  },
  updateMe: {
    ...patch('/v1/me', byPerson, "Set or remove a person's display name"),
    body: updateMeBody,
    answer: me,
  },
  getMidturnPolicy: {
    ...get('/v1/me/midturn', byMember, "Whose messages may reach a person's agents in the middle of a turn"),
    answer: midturn,
  },
  setMidturnPolicy: {
    ...put('/v1/me/midturn', byPerson, "Set a person's mid-turn policy, or the exception of one of their agents"),
    body: setMidturnBody,
    errors: ['agent_owner_required', 'member_not_found'],
    statuses: orContradicts,
    answer: midturn,
  },
  getSettings: {
    ...get('/v1/settings', byPerson, "Read the server's settings"),
    answer: settings,
  },
  updateSettings: {
    ...patch('/v1/settings', ['PK'], "Change the server's settings, as an admin"),
    admins: { may: "change the server's settings" },
    body: updateSettingsBody,
    answer: settings,
  },
} as const satisfies Record<string, OperationRow>;
