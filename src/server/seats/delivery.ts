/** How messages reach an agent, as its person chose. Not part of the record. */
import { Refusal } from '../../contract/errors.ts';
import { asMember, seeBoard, type VisibleBoard } from '../access/board-access.ts';
import type { ReadTx } from '../db/tx.ts';
import { findMember, type MemberRow } from '../members/members.store.ts';
import { type Caller, isAdmin } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { lockMode, setMode } from './agents.store.ts';

export const setDeliveryMode: WriteCase<'setDeliveryMode'> = {
  async run(tx, caller, { params, body: { mode } }) {
    const place = await boardOf(tx, caller, params['board'] ?? '');
    const found = await findAgent(tx, place, params['member'] ?? '');
    if (found.person_id !== caller.person.person_id) {
      throw new Refusal('agent_owner_required', `${found.name} is not an agent of yours.`, {
        hint: "Only an agent's own person says how messages reach it.",
      });
    }
    // Held and read again: a seat that ended meanwhile stays as it ended.
    const agent = await lockMode(tx, found.id);
    if (agent?.status !== 'active') throw agentNotFound(place);
    const changed = agent.delivery_mode !== mode;
    const revision = agent.delivery_revision + (changed ? 1 : 0);
    if (changed) {
      await setMode(tx, found.id, mode, revision);
      tx.publish(`positions:${caller.person.person_id}`);
    }
    return { answer: { board: place.board.name, agent: found.name, mode, revision, changed } };
  },
};

/** The board, for its members. An admin, who may remove its agents without being on it, is told whose they are. */
async function boardOf(tx: ReadTx, caller: Caller, name: string): Promise<VisibleBoard> {
  const found = await seeBoard(tx, caller, name);
  return found.member === null && isAdmin(caller) ? found : asMember(caller, found);
}

/** An active agent by name or id. @throws Refusal `agent_not_found`. */
async function findAgent(tx: ReadTx, place: VisibleBoard, ref: string): Promise<MemberRow> {
  const found = await findMember(tx, place.board.id, ref);
  if (found?.kind !== 'agent' || found.status !== 'active') throw agentNotFound(place);
  return found;
}

const agentNotFound = ({ board }: VisibleBoard): Refusal =>
  new Refusal('agent_not_found', `There is no such agent on ${board.name}.`, {
    hint: `service board members --board ${board.name} shows who is on it.`,
  });
