/** How messages reach an agent, as its person chose. Not part of the record. */
import { saveMember } from '../members/members.store.ts';
import type { WriteCase } from '../operation/usecase.ts';
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
