/** The board record, as each kind of caller gets it. */
import type { Board, Brief } from '../../contract/types.ts';
import { decidesLifecycle } from '../access/authority.ts';
import { readerOf, requirePlace, type VisibleBoard } from '../access/board-access.ts';
import { countOpenAsks } from '../asks/asks.store.ts';
import { type BoardRow, parseRoles } from '../boards/boards.store.ts';
import { withOverrides } from '../boards/policy.rules.ts';
import { prefixesOf } from '../boards/prefixes.store.ts';
import type { ReadTx } from '../db/tx.ts';
import { briefsOf } from '../files/files.store.ts';
import { openRequests, unreadOf, type WakingCounts } from '../inbox/inbox.store.ts';
import { agentUnread, personUnread } from '../inbox/unread.rules.ts';
import { countMembers } from '../members/member-counts.store.ts';
import { type MemberRow, type MemberWithPerson, membersById } from '../members/members.store.ts';
import { type Caller, isPerson } from '../operation/caller.ts';
import { countOpenTasks } from '../tasks/tasks.store.ts';
import { idsIn, indexBy } from '../text/rows.ts';
import { timestamp, timestampOrNull } from '../text/time.ts';
import { actorView } from './actors.ts';
import { briefViews } from './file.ts';

/** Composes the records of boards the caller sees, with a fixed number of statements however many there are. */
export async function boardViews(tx: ReadTx, caller: Caller, visible: VisibleBoard[]): Promise<Board[]> {
  if (visible.length === 0) return [];
  const boards = visible.map(({ board }) => board);
  const counts = indexBy(await countMembers(tx, idsIn(boards)), 'board_id');
  const creatorIds = boards.map((board) => board.creator_member_id);
  const creators = await membersById(tx, creatorIds);
  // What its person has read is none of a delegation's business.
  const positioned = caller.kind === 'DG' ? [] : visible;
  const owing = indexBy(await openRequests(tx, ownIds(positioned)), 'member_id');
  const prefixes = await prefixesByBoard(tx, visible);
  const active = positioned.filter(({ board }) => board.lifecycle === 'active');
  const work = await workOn(tx, positioned, await countOpenAsks(tx, ownIds(active)));
  const briefs = await briefsByBoard(tx, positioned);
  const views: Board[] = [];
  for (const found of visible) {
    const count = counts.get(found.board.id);
    const creator = creators.get(found.board.creator_member_id);
    if (!creator) throw new Error(`board ${found.board.id} has no creator row`);
    views.push({
      ...facts(found, creator, Number(count?.people ?? 0)),
      ...authority(found, caller),
      ...(found.member
        ? {
            agent_count: Number(count?.agents ?? 0),
            task_prefixes: (prefixes.get(found.board.id) ?? []).map(({ prefix }) => prefix),
          }
        : {}),
      ...work(found),
      ...(found.member && caller.kind !== 'DG'
        ? {
            ...(await position(tx, found.board, found.member, found.policy.visibility, owing)),
            brief: briefs.get(found.board.id) ?? null,
          }
        : {}),
    });
  }
  return views;
}

type Asks = Awaited<ReturnType<typeof countOpenAsks>>;

/** Open tasks of the boards the caller is on, and asks addressed to them there. */
async function workOn(
  tx: ReadTx,
  visible: VisibleBoard[],
  asks: Asks,
): Promise<(found: VisibleBoard) => Partial<Board>> {
  const mine = visible.filter((found) => found.member);
  if (mine.length === 0) return () => ({});
  const numbered = mine.filter(({ board }) => board.task_prefix !== null).map(({ board }) => board.id);
  const open = indexBy(numbered.length > 0 ? await countOpenTasks(tx, numbered) : [], 'board_id');
  return ({ board, member }) => {
    if (!member) return {};
    const tasks_open = Number(open.get(board.id)?.count ?? 0);
    if (member.kind === 'agent') return { tasks_open };
    const { blocking = 0, going_with = 0 } = asks.get(member.id) ?? {};
    return { tasks_open, asks_to_me: { blocking, going_with } };
  };
}

export const boardView = async (tx: ReadTx, caller: Caller, found: VisibleBoard): Promise<Board> =>
  (await boardViews(tx, caller, [found]))[0]!;

/** Every prefix a board used, oldest first; most boards never had one. */
async function prefixesByBoard(tx: ReadTx, visible: VisibleBoard[]) {
  const ids = visible.flatMap(({ board, member }) => (member && board.task_prefix !== null ? [board.id] : []));
  return Map.groupBy(ids.length === 0 ? [] : await prefixesOf(tx, ids), ({ board_id }) => board_id);
}

/** The briefs of the boards the caller is on. */
async function briefsByBoard(tx: ReadTx, visible: VisibleBoard[]): Promise<Map<string, Brief>> {
  const places = visible.filter(({ member }) => member !== null).map(requirePlace);
  if (places.length === 0) return new Map();
  return briefViews(tx, places, await briefsOf(tx, idsIn(places.map(({ board }) => board))));
}

/** The members that people are. */
const ownIds = (visible: VisibleBoard[]): string[] =>
  visible.flatMap(({ member }) => (member?.kind === 'human' ? [member.id] : []));

function facts({ board, policy, member }: VisibleBoard, creator: MemberWithPerson, people: number) {
  const counted = member?.kind !== 'agent' || policy.visibility === 'open';
  return {
    id: board.id,
    name: board.name,
    title: board.title,
    visibility: board.visibility,
    lifecycle: board.lifecycle as 'active' | 'archived',
    on_board: member !== null,
    template: board.template,
    charter: board.charter,
    roles: parseRoles(board),
    policy: withOverrides(policy),
    agents_add_people: board.agents_add_people === 1,
    head_seq: board.head_seq,
    message_count: counted ? board.message_count : null,
    last_message_at: counted ? timestampOrNull(board.last_message_at) : null,
    created_at: timestamp(board.created_at),
    created_by: actorView(creator, member ? readerOf(member, policy) : null),
    people_count: people,
    task_prefix: board.task_prefix,
  };
}

/** What this credential could do to the board's lifecycle now: a hint, the write decides. */
function authority({ board, member }: VisibleBoard, caller: Caller) {
  const may = decidesLifecycle(caller, board, member);
  return {
    can_archive: may && board.lifecycle === 'active',
    can_restore: may && board.lifecycle === 'archived',
    can_delete: may && board.lifecycle === 'archived' && isPerson(caller),
  };
}

async function position(
  tx: ReadTx,
  board: BoardRow,
  member: MemberRow,
  visibility: 'open' | 'addressed',
  owing: ReadonlyMap<string, { count: number }>,
) {
  if (member.kind === 'human') {
    return {
      read_up_to: member.read_up_to,
      unread: personUnread(board, member),
      needs_reply: Number(owing.get(member.id)?.count ?? 0),
    };
  }
  const unread = await unreadOf(tx, [{ memberId: member.id, readsAll: visibility === 'open' }]);
  const waking = unread.get(member.id) as WakingCounts;
  return { read_up_to: member.read_up_to, unread: agentUnread(board, member, waking), needs_reply: null };
}
