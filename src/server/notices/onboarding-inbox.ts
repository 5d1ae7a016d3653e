/** What happened to a person without being asked: boards they were added to, people who joined by their invites. */
import { WEEK } from '../../contract/durations.ts';
import type { Answer, BoardLabel } from '../../contract/types.ts';
import { effective, undecidedRows } from '../approvals/approvals.store.ts';
import { joinStep } from '../approvals/next.rules.ts';
import { boardsWithIds } from '../boards/boards.store.ts';
import type { ReadTx } from '../db/tx.ts';
import { boardsOf } from '../invites/invites.store.ts';
import { boardIdsOf, ownMemberships } from '../members/memberships.store.ts';
import type { Caller } from '../operation/caller.ts';
import type { ReadCase } from '../operation/usecase.ts';
import { seenRequests } from '../pairing/find.steps.ts';
import { isClosed } from '../pairing/pairing-states.rules.ts';
import { stateAt } from '../pairing/subject.rules.ts';
import { timestamp } from '../text/time.ts';
import { approvalViews } from '../views/approval.ts';
import { addedTo, boardLabels } from '../views/board-list.ts';
import { comersSince, type InviteeRow } from './onboarding-inbox.store.ts';

type Inbox = Answer<'getOnboardingInbox'>;

const MOST = 200;

/** Looking at it changes nothing. At most 200 of each, newest first. */
export const getOnboardingInbox: ReadCase<'getOnboardingInbox'>['run'] = async (tx, caller, { deps: { address } }) => {
  const baseUrl = address.baseUrl();
  return {
    board_adds: await boardAdds(tx, caller, baseUrl),
    arrivals: await arrivals(tx, caller),
    counts: {
      approvals_pending: await countPendingFor(tx, caller, baseUrl),
      pairings_open: (await seenRequests(tx, caller)).filter((row) => !isClosed(stateAt(row, tx.now))).length,
    },
  };
};

/** Boards that can be worked on and that somebody else put them on, as long as they have done nothing there. */
async function boardAdds(tx: ReadTx, caller: Caller, baseUrl: string): Promise<Inbox['board_adds']> {
  const { person_id } = caller.person;
  const ids = await boardIdsOf(tx, person_id);
  const boards = new Map((await boardsWithIds(tx, ids)).map((board) => [board.id, board]));
  const own = (await ownMemberships(tx, person_id, ids)).flatMap((member) => {
    const board = boards.get(member.board_id);
    return board?.lifecycle === 'active' ? [{ board, member }] : [];
  });
  const added = await addedTo(tx, caller, own);
  const found = own.flatMap(({ board: { id, name, title } }) => {
    const addition = added.get(id);
    if (!addition) return [];
    return [{ board: { id, name, title }, added: addition, ...joinStep(name, baseUrl) }];
  });
  return found.sort((a, b) => Date.parse(b.added.at) - Date.parse(a.added.at)).slice(0, MOST);
}

/** People who came by their invites this week and have an agent on a board of the invite that is still seen. */
async function arrivals(tx: ReadTx, caller: Caller): Promise<Inbox['arrivals']> {
  const all = await comersSince(tx, caller.person.person_id, tx.now - WEEK);
  const rows = all.filter((row) => boardsOf(row).includes(row.board_id));
  const labels = await boardLabels(
    tx,
    caller,
    rows.map((row) => row.board_id),
  );
  const found = new Map<string, { first: InviteeRow; boards: Map<string, InviteeRow[]> }>();
  for (const row of rows) {
    if (!labels.has(row.board_id)) continue;
    const entry = found.get(row.invite_id) ?? { first: row, boards: new Map<string, InviteeRow[]>() };
    entry.boards.set(row.board_id, [...(entry.boards.get(row.board_id) ?? []), row]);
    found.set(row.invite_id, entry);
  }
  return [...found.values()].slice(0, MOST).map(({ first, boards }) => ({
    invite_id: first.invite_id,
    person_id: first.person_id,
    handle: first.handle,
    at: timestamp(first.used_at),
    boards: [...boards].map(([id, agents]) => ({
      board: labels.get(id) as BoardLabel,
      agents: agents.map(({ member_id, name, harness }) => ({ id: member_id, name, harness })),
    })),
  }));
}

/** Requests that wait for them and that they see. */
async function countPendingFor(tx: ReadTx, caller: Caller, baseUrl: string): Promise<number> {
  const rows = (await undecidedRows(tx, caller.person.person_id)).filter(
    (row) => effective(row, tx.now).state === 'pending',
  );
  return (await approvalViews(tx, caller, rows, baseUrl)).length;
}
