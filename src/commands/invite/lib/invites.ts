/** Lists a person's invites. */
import type { Client } from '../../../client/client.ts';
import { pages } from '../../../client/pages.ts';
import type { Answer } from '../../../contract/types.ts';

/** All of them, newest first, or those in one state. */
export async function ownInvites(client: Client, state: string | undefined): Promise<Answer<'getInvite'>[]> {
  const invites: Answer<'getInvite'>[] = [];
  for await (const page of pages(client, 'listInvites', { query: { state, limit: 500 } }))
    invites.push(...page.invites);
  return invites;
}

/** The invites that the person's agents asked for, newest first. */
export async function inviteNotices(client: Client): Promise<Answer<'listInviteNotices'>['notices']> {
  const notices: Answer<'listInviteNotices'>['notices'] = [];
  for await (const page of pages(client, 'listInviteNotices', { query: { limit: 100 } })) notices.push(...page.notices);
  return notices;
}
