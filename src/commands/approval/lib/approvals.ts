/** Reads agents' requests and collects their results. */
import { randomBytes } from 'node:crypto';
import { runtime } from '../../../cli/runtime.ts';
import type { Session } from '../../../cli/session/open-session.ts';
import { allRows } from '../../../client/pages.ts';
import type { Answer, Approval } from '../../../contract/types.ts';
import type { Folders } from '../../../local/folders.ts';
import { isRecord, noteFile } from '../../../local/private-file.ts';

/** All that are listed: a person's agents', or an agent's own. */
export const allApprovals = ({ client }: Session, state: string | undefined): Promise<Approval[]> =>
  allRows(client, 'listApprovals', 'approvals', { query: { state, limit: 100 } });

/** Collects as the agent that asked; the key is saved first, so that a lost answer is found again. */
export async function collected({ client, server }: Session, approval: string): Promise<Answer<'collectApproval'>> {
  const idempotencyKey = await collectKey(runtime().folders, server.url, approval);
  return (await client.call('collectApproval', { params: { approval }, idempotencyKey })).data;
}

const LIFETIME_MS = 600_000;

const keys = noteFile<Record<string, { key: string; at: number }>>('collect.json', {}, isRecord);

/**
 * The key for an approval on a server: the one of an earlier attempt, or a new one, saved before it is used. Its time begins
 * anew with each attempt, because only the server knows which of them it carried out.
 */
async function collectKey(folders: Folders, server: string, approval: string): Promise<string> {
  const name = `${server} ${approval}`;
  let key = '';
  await keys.change(folders, (saved) => {
    const now = Date.now();
    const kept = Object.fromEntries(Object.entries(saved).filter(([, { at }]) => at > now - LIFETIME_MS));
    key = kept[name]?.key ?? randomBytes(24).toString('base64url');
    return { ...kept, [name]: { key, at: now } };
  });
  return key;
}
