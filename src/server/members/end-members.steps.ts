/** Ends seats and memberships with all that depends on them, in one transaction and in the order of the record. */
import type { EventActor } from '../../contract/types.ts';
import { clearForMembership, closeForSeats } from '../approvals/closings.steps.ts';
import { record, type Setting } from '../boards/acting.steps.ts';
import { type BoardRow, saveBoard } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { revokeCodes } from '../joining/join-codes.steps.ts';
import type { Authorized } from '../record/append.steps.ts';
import { endQueues } from '../seats/queue.store.ts';
import { endReports } from '../seats/reports.store.ts';
import { dropPartsOf } from '../tasks/parts.steps.ts';
import { setEnded } from './end-members.store.ts';
import { agentTotals } from './member-counts.store.ts';
import { activeAgents, type MemberRow } from './members.store.ts';

export interface SeatEnding {
  actor: EventActor;
  /** In what capacity; `self`: the agent leaves. */
  by: 'person' | 'board_owner' | 'admin' | 'self';
  /** Handle of the agent's person. */
  owner: string;
  /** It was removed because no session had been there since. */
  pruned?: { disconnected_since: string };
}

/** Ends an active seat on a board whose row this transaction has locked; answers the seat as it is from now on. */
export async function endSeat(
  tx: WriteTx,
  board: BoardRow,
  seat: MemberRow,
  { actor, by, owner, pruned }: SeatEnding,
): Promise<MemberRow> {
  const status = by === 'self' ? 'left' : 'removed';
  const setting = { tx, board, actor };
  await closeSeats(tx, [seat], status, by);
  await record(setting, by === 'self' ? 'agent.left' : 'agent.removed', {
    member_id: seat.id,
    name: seat.name,
    person_id: seat.person_id,
    owner,
    removed_by: by,
    ...(pruned ? { pruned: true, ...pruned } : {}),
  });
  await settle(setting, [seat]);
  return { ...seat, status, removed_at: tx.now, removed_by: by };
}

const byWhom = {
  left: { seats: 'person', person: 'self' },
  removed: { seats: 'board_owner', person: 'board_owner' },
  /** By their agent, in their name. */
  removed_by_self: { seats: 'person', person: 'person' },
  removed_from_server: { seats: 'admin', person: 'admin' },
} as const;

/**
 * Ends a person's active membership with all their agents there. Whether the board may lose this person is decided before.
 * @param why what the event says of an approval that caused it. @param agents all that are active, where they are known.
 */
export async function endMembership(
  setting: Setting,
  member: MemberRow,
  how: keyof typeof byWhom,
  why: Authorized = {},
  agents?: MemberRow[],
): Promise<void> {
  const { tx, board } = setting;
  const ending = agents ?? (await activeAgents(tx, board.id, 'person_id', [member.person_id]));
  const by = byWhom[how];
  await clearForMembership(tx, member.person_id, board.id);
  await setEnded(tx, [member.id], how === 'left' ? 'left' : 'removed', by.person);
  await closeSeats(tx, ending, 'removed', by.seats);
  await record(setting, how === 'left' ? 'person.left' : 'person.removed', {
    member_id: member.id,
    person_id: member.person_id,
    name: member.name,
    agents: ending.map((agent) => agent.id),
    ...(how === 'removed_from_server' ? { from_server: true } : {}),
    ...why,
  });
  await settle(setting, [member, ...ending]);
  tx.publish(`account:${member.person_id}`);
}

async function closeSeats(tx: WriteTx, seats: MemberRow[], status: 'left' | 'removed', by: SeatEnding['by']) {
  if (seats.length === 0) return;
  const ids = seats.map((seat) => seat.id);
  await setEnded(tx, ids, status, by);
  await endReports(tx, ids);
  await endQueues(tx, ids);
  await closeForSeats(tx, ids);
  for (const seat of seats) {
    tx.publish(`credential:${seat.id}`);
    tx.publish(`positions:${seat.person_id}`);
  }
}

/** What follows from members being gone, after the event that says so: their codes, then their parts in tasks. */
async function settle(setting: Setting, gone: MemberRow[]): Promise<void> {
  const ids = gone.map((member) => member.id);
  await revokeCodes(setting, { makers: ids });
  await dropPartsOf(setting, ids);
  if (gone.some((member) => member.kind === 'agent')) await recountOwners(setting.tx, setting.board);
}

/** Messages show whose agent wrote them only while agents of several people are there. */
async function recountOwners(tx: WriteTx, board: BoardRow): Promise<void> {
  if (board.show_owner === 0 || (await agentTotals(tx, board.id, '')).people > 1) return;
  await saveBoard(tx, board, { show_owner: 0 });
}
