/** Lists a person's invites. */
import type { Client } from '../../../client/client.ts';
import { allRows } from '../../../client/pages.ts';
import type { Answer } from '../../../contract/types.ts';

/** All of them, newest first, or those in one state. */
export const ownInvites = (client: Client, state: string | undefined): Promise<Answer<'getInvite'>[]> =>
  allRows(client, 'listInvites', 'invites', { query: { state, limit: 500 } });

/** The invites that the person's agents asked for, newest first. */
export const inviteNotices = (client: Client): Promise<Answer<'listInviteNotices'>['notices']> =>
  allRows(client, 'listInviteNotices', 'notices', { query: { limit: 100 } });
