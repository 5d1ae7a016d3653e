/** Declining, cancelling, and choosing the agent that a recipient asks to accept. */
import type { PairingSide } from '../../contract/types.ts';
import type { WriteTx } from '../db/tx.ts';
import type { Caller, Shown } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { requireOwnSeat } from '../seats/own-agent.steps.ts';
import { pairingView } from '../views/pairing.ts';
import { askAgent } from './ask-agent.steps.ts';
import { findPairing, lockPairing, requireOpen } from './find.steps.ts';
import { move } from './move.steps.ts';
import { notYours, pairingChanged } from './refusals.rules.ts';
import type { SubjectRow } from './requests.store.ts';

type Requires = (row: SubjectRow, caller: Caller) => void;
type Ending = WriteCase<'declinePairing'> & WriteCase<'cancelPairing'>;

/** One side ends it; works on an archived board too. */
const ending = (on: 'decline' | 'cancel', side: PairingSide, require: Requires): Ending => ({
  async run(tx, caller, { params, deps }) {
    const { row } = await lockPairing(tx, caller, params.pairing);
    require(row, caller);
    return { answer: await pairingView(tx, caller, await move(tx, row, on, { side }), deps) };
  },
  recheck: (tx, caller, shown) => recheckAs(tx, caller, shown, require),
});

export const declinePairing = ending('decline', 'recipient', requireRecipient);

export const cancelPairing = ending('cancel', 'initiator', requireInviter);

/** A repeated request gets the earlier answer, if the caller still has the right to ask. */
async function recheckAs(tx: WriteTx, caller: Caller, { pairing = '' }: Shown, require: Requires): Promise<void> {
  require(await findPairing(tx, caller, pairing), caller);
}

/** Binds no session: the agent is asked, and its own session accepts. */
export const choosePairingAgent: WriteCase<'choosePairingAgent'> = {
  async run(tx, caller, { params, body: { agent_id, generation, replace }, deps }) {
    const held = await lockPairing(tx, caller, params.pairing);
    const { row, board } = held;
    requireRecipient(row, caller);
    requireOpen(tx, caller, held);
    await requireOwnSeat(tx, agent_id, caller.person.person_id, board.id);
    if (generation !== row.generation) throw pairingChanged();
    if (agent_id === (row.initiator_agent_id ?? row.initiating_agent_id)) {
      throw pairingChanged('This agent is the initiating one; choose another.');
    }
    const chosen = row.chosen_agent_id;
    const again = chosen === agent_id;
    if (chosen !== null && !again && !replace) {
      throw pairingChanged('Another agent was chosen; choosing anew needs replace.');
    }
    const post = () => askAgent(tx, caller, { row, board, agentId: agent_id, baseUrl: deps.address.baseUrl() });
    const moved = again ? row : await move(tx, row, 'choose', { side: 'recipient', ask: { agentId: agent_id, post } });
    return { answer: await pairingView(tx, caller, moved, deps) };
  },
  recheck: (tx, caller, shown) => recheckAs(tx, caller, shown, requireRecipient),
};

/** @throws Refusal `forbidden`. */
function requireRecipient({ recipient_id }: SubjectRow, { person }: Caller): void {
  if (recipient_id !== person.person_id) throw notYours('the recipient');
}

/** @throws Refusal `forbidden`, also to another seat of the inviter. */
function requireInviter({ inviter_id, initiating_agent_id }: SubjectRow, caller: Caller): void {
  const own = caller.person.person_id === inviter_id;
  if (!own || (caller.kind === 'AG' && caller.seat.id !== initiating_agent_id)) throw notYours('the inviter');
}
