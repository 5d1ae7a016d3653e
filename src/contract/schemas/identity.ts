/** Server information and the caller. */
import { z } from 'zod';
import { boardName, deliveryMode, handle, id, serverRole } from './common.ts';

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
  current_task: z.null(),
});
