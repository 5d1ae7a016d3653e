/** Who makes a request: an agent, with the person on whose authority it would be done. */
import { actorOn } from '../access/acting.ts';
import type { Setting } from '../boards/acting.steps.ts';
import type { BoardRow } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { memberById } from '../members/members.store.ts';
import { activeHuman } from '../members/memberships.store.ts';
import type { Caller, KeyCaller } from '../operation/caller.ts';

export interface Requester {
  /** The person, whichever credential brought the request: boards are looked at as theirs. */
  person: KeyCaller;
  agentId: string;
  requestId: string;
}

export const requesterOf = (caller: Caller, agentId: string, requestId: string): Requester => ({
  person: { ...caller, kind: 'PK', seat: null } as KeyCaller,
  agentId,
  requestId,
});

/** Who acts on a board: the agent where it has its seat, else the person; no foreign seat stands in a board's log. */
export async function settingFor(
  tx: WriteTx,
  board: BoardRow,
  { person, agentId }: { person: Caller; agentId?: string | undefined },
): Promise<Setting> {
  const agent = agentId === undefined ? undefined : await memberById(tx, agentId);
  const own = agent?.board_id === board.id ? agent : await activeHuman(tx, board.id, person.person.person_id);
  return { tx, board, actor: actorOn(own ?? null, person) };
}
