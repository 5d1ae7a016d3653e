/** Reads agents' requests and collects their results. */
import { runtime } from '../../../cli/runtime.ts';
import type { Session } from '../../../cli/session/open-session.ts';
import { allRows } from '../../../client/pages.ts';
import type { Answer, Approval } from '../../../contract/types.ts';
import { collectKey } from '../../../local/keys/collect-keys.ts';

/** All that are listed: a person's agents', or an agent's own. */
export const allApprovals = ({ client }: Session, state: string | undefined): Promise<Approval[]> =>
  allRows(client, 'listApprovals', 'approvals', { query: { state, limit: 100 } });

/** Collects as the agent that asked; the key is saved first, so that a lost answer is found again. */
export async function collected({ client, server }: Session, approval: string): Promise<Answer<'collectApproval'>> {
  const idempotencyKey = collectKey(runtime().folders, server.url, approval);
  return (await client.call('collectApproval', { params: { approval }, idempotencyKey })).data;
}
