/** Tells agents what came of what they asked for, in words of the server: ids, handles and board names, no secret. */
import { DAY, WEEK } from '../../contract/durations.ts';
import type { ApprovalRow } from '../approvals/approvals.store.ts';
import { type BoardRow, boardsWithIds } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { boardsOf, type InviteRow, invitesUsedBy } from '../invites/invites.store.ts';
import { memberById, membersById } from '../members/members.store.ts';
import { activeHuman } from '../members/memberships.store.ts';
import type { PersonRow } from '../people/people.store.ts';
import { newId, timeOfId } from '../text/ids.ts';
import { indexBy } from '../text/rows.ts';
import { type About, dropOldest, insertNotices, type NoticeRow, newestOf } from './notices.store.ts';

const MOST = 50;

/** What an agent is told. */
export interface Notice extends Pick<NoticeRow, 'member_id' | 'kind' | 'subject' | 'expires_at' | 'text'> {
  generation?: number;
  about: About;
}

/** Writes notices, each for an agent that is there; one that ended is told nothing. */
export async function tell(tx: WriteTx, ...notices: Notice[]): Promise<void> {
  const asked = notices.map(({ member_id }) => member_id);
  const seats = await membersById(tx, asked);
  const on = new Set(Array.from(seats.values(), (seat) => seat.board_id));
  const boards = indexBy(await boardsWithIds(tx, [...on]), 'id');
  const told = notices.filter(({ member_id: id }) => {
    const seat = seats.get(id);
    return seat?.status === 'active' && boards.get(seat.board_id)?.lifecycle !== 'deleted';
  });
  if (told.length === 0) return;
  const newest = new Map((await newestOf(tx, [...seats.keys()])).map((row) => [row.member_id, timeOfId(row.newest)]));
  const rows = told.map((notice) => ({
    id: newId('ntc', timeAfter(newest, notice.member_id, tx.now)),
    generation: 1,
    created_at: tx.now,
    delivered_at: null,
    ...notice,
    about: JSON.stringify(notice.about),
  }));
  if ((await insertNotices(tx, rows)) === 0) return;
  const ids = [...new Set(told.map(({ member_id }) => member_id))];
  await dropOldest(tx, ids, MOST);
  for (const id of ids) {
    tx.publish(`notices:${id}`);
    tx.publish(`onboarding:${seats.get(id)?.person_id}`);
  }
}

/** The time for the id of an agent's next notice, later than that of its newest one: by its id a stream sees that one was written. */
function timeAfter(newest: Map<string, number>, memberId: string, now: number): number {
  const time = Math.max(now, (newest.get(memberId) ?? 0) + 1);
  newest.set(memberId, time);
  return time;
}

const words = {
  approval_allowed: 'was allowed',
  approval_declined: 'was declined',
  approval_expired: 'was not decided in time and has expired',
} as const;

/** @param until when an allowed one has something to collect. */
export const tellDecision = (
  tx: WriteTx,
  { id, agent_id }: Pick<ApprovalRow, 'id' | 'agent_id'>,
  kind: keyof typeof words,
  until?: number,
): Promise<void> =>
  tell(tx, {
    member_id: agent_id,
    kind,
    subject: id,
    expires_at: until ?? tx.now + (kind === 'approval_allowed' ? DAY : WEEK),
    text: `Your request ${id} ${words[kind]}.`,
    about: { approval_id: id },
  });

type Newcomer = Pick<PersonRow, 'id' | 'handle'>;

/** The invite that an agent asked for was used. */
export async function tellRedeemed(
  tx: WriteTx,
  invite: InviteRow,
  { id, handle }: Newcomer,
  pairing_request_id?: string,
): Promise<void> {
  if (invite.issuing_agent_id === null) return;
  await tell(tx, {
    member_id: invite.issuing_agent_id,
    kind: 'invite_redeemed',
    subject: invite.id,
    expires_at: tx.now + WEEK,
    text: `@${handle} used the invite ${invite.id} that you asked for.`,
    about: { invite_id: invite.id, pairing_request_id, person: { id, handle } },
  });
}

/**
 * A former owner hears of it when it comes back; a person sees it on the board.
 * @param by the name of the member who has it now. @param seq of the event.
 */
export async function tellTakenOver(
  tx: WriteTx,
  board: Pick<BoardRow, 'name'>,
  { memberId, task, by, seq }: { memberId: string; task: { id: string; ref: string }; by: string; seq: number },
): Promise<void> {
  if ((await memberById(tx, memberId))?.kind !== 'agent') return;
  await tell(tx, {
    member_id: memberId,
    kind: 'task_taken_over',
    subject: `${task.id} ${seq}`,
    expires_at: tx.now + 30 * DAY,
    text: `@${by} took over ${task.ref} on ${board.name} from you; you help with it now.`,
    about: { task: { id: task.id, ref: task.ref }, board: board.name },
  });
}

type JoinedBoard = Pick<BoardRow, 'id' | 'name' | 'visibility'>;

/** Tells the agent that had asked for the invite, once for each invite and board that its person still sees. */
export async function tellArrival(tx: WriteTx, board: JoinedBoard, { id, handle }: Newcomer): Promise<void> {
  for (const invite of await invitesUsedBy(tx, id)) {
    if (invite.issuing_agent_id === null || !boardsOf(invite).includes(board.id)) continue;
    if (board.visibility === 'private' && !(await activeHuman(tx, board.id, invite.created_by))) continue;
    await tell(tx, {
      member_id: invite.issuing_agent_id,
      kind: 'colleague_arrived',
      subject: `${invite.id} ${board.id}`,
      expires_at: tx.now + WEEK,
      text: `The first agent of @${handle} is on ${board.name}.`,
      about: { invite_id: invite.id, person: { id, handle }, board: board.name },
    });
  }
}
