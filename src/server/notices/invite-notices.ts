/** The invites that a person's agents asked for: what became of each, and what ends it. */
import type { Answer } from '../../contract/types.ts';
import { authorizationOf } from '../approvals/approvals.store.ts';
import { inviteStep, takeBackStep } from '../approvals/next.rules.ts';
import type { ReadTx } from '../db/tx.ts';
import { boardsOf, type InviteRow, listInviteRows, stateOf } from '../invites/invites.store.ts';
import { type MemberWithPerson, membersById } from '../members/members.store.ts';
import type { Caller } from '../operation/caller.ts';
import type { ReadCase } from '../operation/usecase.ts';
import { cutPage, pageFrom, readPageToken } from '../text/page-token.ts';
import { timestamp } from '../text/time.ts';
import { boardLabels } from '../views/board-list.ts';

type Notice = Answer<'listInviteNotices'>['notices'][number];

/** Newest first, in every state; told from the invites themselves, so nothing is told twice. */
export const listInviteNotices: ReadCase<'listInviteNotices'>['run'] = async (
  tx,
  caller,
  { query: { limit, after }, deps: { address } },
) => {
  const from = readPageToken(after);
  const rows = await listInviteRows(tx, caller.person.person_id, 'all', (all) =>
    pageFrom(all.whereNotNull('issuing_agent_id'), 'server_invites', from, limit, 'desc'),
  );
  const { page, next_after } = cutPage(rows, limit);
  return { notices: await views(tx, caller, page, address.baseUrl()), next_after };
};

async function views(tx: ReadTx, caller: Caller, rows: InviteRow[], baseUrl: string): Promise<Notice[]> {
  const agentIds = rows.flatMap(({ issuing_agent_id: id }) => id ?? []);
  const agents = await membersById(tx, agentIds);
  const labels = await boardLabels(tx, caller, rows.flatMap(boardsOf));
  return rows.map((row) => {
    const agent = agents.get(row.issuing_agent_id ?? '');
    const state = stateOf(row, tx.now);
    return {
      id: row.id,
      issuing_agent_id: row.issuing_agent_id ?? '',
      message: messageOf(row, agent),
      ...(row.suggested_handle === null ? {} : { suggested_handle: row.suggested_handle }),
      created_at: timestamp(row.created_at),
      expires_at: timestamp(row.expires_at),
      state,
      display: {
        ...(agent ? { agent_name: agent.name } : {}),
        ...(agent?.harness ? { agent_harness: agent.harness } : {}),
        boards: boardsOf(row).flatMap((id) => labels.get(id) ?? []),
      },
      next: state === 'active' ? takeBackStep(row.id, baseUrl) : inviteStep(row.id, baseUrl),
    };
  });
}

function messageOf(row: InviteRow, agent: MemberWithPerson | undefined): string {
  const name = agent?.name ?? row.issuing_agent_id;
  return authorizationOf(row)?.via === 'allowance'
    ? `${name} made this invite under your allowance, without asking.`
    : `${name} asked for this invite, and you allowed it.`;
}
