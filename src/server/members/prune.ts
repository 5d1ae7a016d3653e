/** Removes agents that have had no session for long. */
import { Refusal } from '../../contract/errors.ts';
import type { Body, PrunedAgent } from '../../contract/types.ts';
import { actorOn } from '../access/acting.ts';
import { type BoardRow, boardById, lockBoardById } from '../boards/boards.store.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';
import { requireAdmin } from '../operation/terms.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { type Disconnected, disconnectedAgents } from '../seats/reports.store.ts';
import { timestamp } from '../text/time.ts';
import { endSeat } from './end-members.steps.ts';
import { lockSeats } from './end-members.store.ts';
import { type MemberRow, type MemberWithPerson, membersById } from './members.store.ts';
import { activeHuman } from './memberships.store.ts';

/** Most agents in one call. */
const BATCH = 500;

type Prune = Body<'pruneAgents'>;

export const pruneAgents: WriteCase<'pruneAgents'> = {
  async run(tx, caller, { body }) {
    if (body.all) {
      requireAdmin(caller.person, { may: "prune other people's agents" });
      caller.shown.need = 'admin';
    }
    const found = body.dry_run ? await look(tx, caller, body) : await prune(tx, caller, body);
    const { disconnected_for, all, dry_run } = body;
    return { answer: { disconnected_for, all, dry_run, ...found }, tried: dry_run };
  },
};

interface Found {
  agents: PrunedAgent[];
  kept: string[];
  more?: true;
}

async function look(tx: WriteTx, caller: Caller, body: Prune): Promise<Found> {
  const found = await qualifying(tx, caller, body);
  const listed = found.slice(0, BATCH);
  const scene = await sceneOf(tx, caller, listed, boardById);
  return {
    agents: listed.map((one) => prunedView(one, scene)),
    kept: keptOf(body.agents ?? [], listed),
    ...(found.length > BATCH ? { more: true } : {}),
  };
}

/** Each agent is asked about again while its row is locked: one that came back meanwhile is kept. */
async function prune(tx: WriteTx, caller: Caller, body: Prune): Promise<Found> {
  if (body.agents === undefined) throw unnamed();
  await lockSeats(tx, { of: { seats: body.agents } });
  const chosen = await qualifying(tx, caller, body);
  const scene = await sceneOf(tx, caller, chosen, lockBoardById);
  const found = chosen.filter((one) => scene.places.has(one.board_id));
  for (const one of found) await endOne(tx, caller, one, scene);
  caller.shown.boards = [...scene.places.values()].flatMap(({ board, named }) => (named ? [board.id] : []));
  return { agents: found.map((one) => prunedView(one, scene)), kept: keptOf(body.agents, found) };
}

const unnamed = (): Refusal =>
  new Refusal('invalid_request', 'Name the agents to remove.', {
    status: 422,
    hint: 'A dry run lists those that qualify; send their ids as agents.',
    details: { field: 'agents' },
  });

const qualifying = (tx: ReadTx, caller: Caller, { all, agents, disconnected_for }: Prune): Promise<Disconnected[]> =>
  disconnectedAgents(tx, {
    personId: all ? null : caller.person.person_id,
    ids: agents,
    before: tx.now - disconnected_for * 1000,
    limit: BATCH + 1,
  });

/** The boards of a list that are not deleted, its seats, and how the caller stands to them. */
interface Scene {
  places: Map<string, { board: BoardRow; member: MemberRow | null; named: boolean }>;
  seats: Map<string, MemberWithPerson>;
}

/** @param read reads a board; those of a list are taken in the order of their ids, so that two of these can hold them. */
async function sceneOf<Tx extends ReadTx>(
  tx: Tx,
  caller: Caller,
  found: Disconnected[],
  read: (tx: Tx, id: string) => Promise<BoardRow | undefined>,
): Promise<Scene> {
  const places: Scene['places'] = new Map();
  for (const id of [...new Set(found.map((one) => one.board_id))].sort()) {
    const board = await read(tx, id);
    if (!board) throw new Error(`board ${id} has gone`);
    // It was deleted before its row was held.
    if (board.lifecycle === 'deleted') continue;
    const member = (await activeHuman(tx, id, caller.person.person_id)) ?? null;
    places.set(id, { board, member, named: member !== null || board.visibility === 'open' });
  }
  const ids = found.map((one) => one.member_id);
  return { places, seats: await membersById(tx, ids) };
}

async function endOne(tx: WriteTx, caller: Caller, { member_id, board_id, since }: Disconnected, scene: Scene) {
  const place = scene.places.get(board_id);
  const seat = scene.seats.get(member_id);
  if (!place || !seat) throw new Error(`seat ${member_id} has gone`);
  const { handle, display_name: _name, server_role: _role, ...row } = seat;
  await endSeat(tx, place.board, row, {
    actor: actorOn(place.member, caller),
    by: row.person_id === caller.person.person_id ? 'person' : 'admin',
    owner: handle,
    pruned: { disconnected_since: timestamp(since) },
  });
}

function prunedView({ member_id, board_id, person_id, handle, since }: Disconnected, scene: Scene): PrunedAgent {
  const place = scene.places.get(board_id);
  return {
    id: member_id,
    name: place?.named ? (scene.seats.get(member_id)?.name ?? null) : null,
    board: place?.named ? place.board.name : null,
    board_id,
    owner: handle,
    owner_id: person_id,
    disconnected_since: timestamp(since),
  };
}

function keptOf(asked: string[], ended: Disconnected[]): string[] {
  const gone = new Set(ended.map((one) => one.member_id));
  return [...new Set(asked)].filter((id) => !gone.has(id));
}
