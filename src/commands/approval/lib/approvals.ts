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

/** A request as it is; its own agent also collects what waits for it. */
export async function shown(session: Session, approval: string, collect: boolean): Promise<Answer<'getApproval'>> {
  const { data } = await session.client.call('getApproval', { params: { approval } });
  const waits = data.approval.outcome.state === 'held' || data.approval.outcome.state === 'collected';
  return session.agent && collect && waits ? collected(session, approval) : data;
}
