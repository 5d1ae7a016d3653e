/** How messages reach an agent, as its person chose: the delivery mode, and who may interrupt a turn. Not part of the record. */
import { Refusal } from '../../contract/errors.ts';
import type { MidturnPolicy } from '../../contract/types.ts';
import { boardById } from '../boards/boards.store.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { type MemberRow, memberById, saveMember } from '../members/members.store.ts';
import { activeHuman } from '../members/memberships.store.ts';
import type { Caller } from '../operation/caller.ts';
import type { ReadCase, WriteCase } from '../operation/usecase.ts';
import { lockPeople, personById, savePerson } from '../people/people.store.ts';
import { midturnExceptions } from './agents.store.ts';
import { effectivePolicy, usualPolicy } from './midturn.rules.ts';
import { lockOwnAgent } from './own-agent.steps.ts';

export const setDeliveryMode: WriteCase<'setDeliveryMode'> = {
  async run(tx, caller, { params, body: { mode } }) {
    const { place, found, agent } = await lockOwnAgent(tx, caller, params);
    const changed = agent.delivery_mode !== mode;
    const revision = agent.delivery_revision + (changed ? 1 : 0);
    if (changed) {
      await saveMember(tx, found.id, { delivery_mode: mode, delivery_revision: revision });
      tx.publish(`positions:${caller.person.person_id}`);
    }
    return { answer: { board: place.board.name, agent: found.name, mode, revision, changed } };
  },
};

/** The mid-turn policy: a person's for all their agents, and the exceptions of single ones. */
export const getMidturnPolicy: ReadCase<'getMidturnPolicy'>['run'] = async (tx, caller) => {
  if (caller.kind === 'AG') return effectivePolicy(caller.seat.midturn_policy, caller.seat.midturn_default);
  const { person_id: id } = caller.person;
  return { ...effectivePolicy(null, await chosenBy(tx, id)), overrides: await midturnExceptions(tx, id) };
};

export const setMidturnPolicy: WriteCase<'setMidturnPolicy'> = {
  before: lockPeople,
  async run(tx, caller, { body: { policy, member_id: memberId } }) {
    const { person_id: id } = caller.person;
    const before = await chosenBy(tx, id);
    if (memberId !== undefined) {
      const agent = await requireOwnAgent(tx, caller, memberId);
      caller.shown.seat = agent.id;
      const changed = agent.midturn_policy !== policy;
      if (changed) await saveMember(tx, agent.id, { midturn_policy: policy });
      return { answer: { ...effectivePolicy(policy, before), changed, overrides: await midturnExceptions(tx, id) } };
    }
    if (policy === null) throw noDefault();
    const changed = usualPolicy(before) !== policy;
    if (changed) await savePerson(tx, id, { midturn_policy: policy });
    return { answer: { ...effectivePolicy(null, policy), changed, overrides: await midturnExceptions(tx, id) } };
  },
  async recheck(tx, caller, shown) {
    if (shown.seat !== undefined) await requireOwnAgent(tx, caller, shown.seat);
  },
};

const chosenBy = async (tx: ReadTx, personId: string): Promise<MidturnPolicy | null> =>
  (await personById(tx, personId))?.midturn_policy ?? null;

/** @throws Refusal `member_not_found` for what the caller does not see as an active agent, `agent_owner_required`. */
async function requireOwnAgent(tx: WriteTx, caller: Caller, id: string): Promise<MemberRow> {
  const agent = await memberById(tx, id);
  if (agent?.kind !== 'agent' || agent.status !== 'active') throw agentNotFound();
  const board = await boardById(tx, agent.board_id);
  const there = await activeHuman(tx, agent.board_id, caller.person.person_id);
  if (board?.lifecycle === 'deleted' || !there) throw agentNotFound();
  if (agent.person_id === caller.person.person_id) return agent;
  throw new Refusal('agent_owner_required', "Only the agent's own person may set this.", {
    hint: 'Leave member_id out to set it for your own agents.',
  });
}

const agentNotFound = (): Refusal =>
  new Refusal('member_not_found', 'There is no such active agent of yours.', {
    hint: 'service agents shows yours, with their ids in --json.',
  });

const noDefault = (): Refusal =>
  new Refusal('invalid_request', 'Only the exception of an agent can be taken back; the default has a value.', {
    status: 422,
    hint: 'Give owner-only or my-agents, or name an agent with member_id.',
    details: { field: 'policy', problem: 'is null without member_id' },
  });
