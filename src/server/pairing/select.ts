/** Binds one side of a request to an agent's session: selects, renews or replaces its endpoint. */
import type { Answer, Body, PairingSide } from '../../contract/types.ts';
import type { WriteTx } from '../db/tx.ts';
import { memberById } from '../members/members.store.ts';
import type { Caller } from '../operation/caller.ts';
import type { Deps, WriteCase } from '../operation/usecase.ts';
import { requireOwnSeat } from '../seats/own-agent.steps.ts';
import { timestamp } from '../text/time.ts';
import { pairingView } from '../views/pairing.ts';
import { type Held, lockPairing, requireOpen } from './find.steps.ts';
import { otherSide } from './lines.rules.ts';
import { move } from './move.steps.ts';
import { type ProofRow, proofEnd } from './proofs.rules.ts';
import { proofByVerifier, rearm } from './proofs.store.ts';
import { notYours, pairingChanged, seatOfAnotherKey } from './refusals.rules.ts';
import { requestById, type SubjectRow } from './requests.store.ts';
import { isLive, waitsOnAgentsInvite } from './subject.rules.ts';

type Selection = Body<'selectPairingEndpoint'>;

export const selectPairingEndpoint: WriteCase<'selectPairingEndpoint'> = {
  async run(tx, caller, { body, deps }) {
    const held = await lockPairing(tx, caller, body.request_id);
    const { row } = held;
    requireOpen(tx, caller, held);
    if (personOf(row, body.side) !== caller.person.person_id) throw notYours(`the ${body.side}`);
    await requireSeat(tx, caller, held, body.agent_id);
    if (seatOf(row, otherSide(body.side)) === body.agent_id) {
      throw pairingChanged('This agent is the other side; select another.');
    }
    const first = body.side === 'initiator' && row.initiator_agent_id === null;
    if (first && body.agent_id !== row.initiating_agent_id && !body.replace) {
      throw pairingChanged('The request was made for another agent; selecting this one needs replace.');
    }
    const verifier = deps.root.digest(body.client_token);
    const known = await proofByVerifier(tx, verifier);
    const end = proofEnd(tx.now, row.expires_at, caller.key.key_expires_at);
    const moved = known
      ? await again(tx, row, known, { body, keyId: caller.key.key_id, end })
      : await select(tx, row, body, { keyId: caller.key.key_id, verifier, end });
    const proof = (await proofByVerifier(tx, verifier)) as ProofRow;
    return { answer: await answerOf(tx, caller, moved, proof, deps) };
  },
};

const personOf = (row: SubjectRow, side: PairingSide): string | null =>
  side === 'initiator' ? row.inviter_id : row.recipient_id;

/** A side's seat; before its initiator is selected, that of whom the request was made for. */
const seatOf = (row: SubjectRow, side: PairingSide): string | null =>
  side === 'initiator' ? (row.initiator_agent_id ?? row.initiating_agent_id) : row.recipient_agent_id;

/** @throws Refusal `pairing_not_found`; `forbidden` where the seat hangs on another key. */
async function requireSeat(tx: WriteTx, caller: Caller, { row, board }: Held, seatId: string): Promise<void> {
  await requireOwnSeat(tx, seatId, caller.person.person_id, row.board_id);
  const seat = await memberById(tx, seatId);
  if (seat?.key_id !== caller.key.key_id) throw seatOfAnotherKey(board.name, waitsOnAgentsInvite(row));
}

/** A token that is known: the answer may have been lost, or the proof be past its end. */
async function again(
  tx: WriteTx,
  row: SubjectRow,
  known: ProofRow,
  { body, keyId, end }: { body: Selection; keyId: string; end: number },
): Promise<SubjectRow> {
  const same =
    known.request_id === row.id &&
    known.side === body.side &&
    known.key_id === keyId &&
    known.agent_id === body.agent_id &&
    known.binding === body.session_binding;
  if (!same || known.revoked_at !== null || known.generation !== row.generation) throw pairingChanged();
  if (known.expires_at <= tx.now) await rearm(tx, known.id, end);
  return row;
}

async function select(
  tx: WriteTx,
  row: SubjectRow,
  { side, agent_id, session_binding, generation, replace }: Selection,
  { keyId, verifier, end }: { keyId: string; verifier: Buffer; end: number },
): Promise<SubjectRow> {
  if (generation !== row.generation) throw pairingChanged();
  const endpoint = { agent_id, key_id: keyId, binding: session_binding };
  const moved = { side, endpoint, proof: { verifier, expires_at: end } };
  const agent = row[`${side}_agent_id`];
  if (agent === null) return move(tx, row, `select_${side}`, moved);
  const same = agent === agent_id && row[`${side}_key_id`] === keyId && row[`${side}_binding`] === session_binding;
  if (same) return move(tx, row, 'renew', moved);
  if (isLive(row, side, tx.now) && !replace) {
    throw pairingChanged('Another session is selected for this side; selecting this one needs replace.');
  }
  return move(tx, row, 'replace', moved);
}

async function answerOf(
  tx: WriteTx,
  caller: Caller,
  moved: SubjectRow,
  proof: ProofRow,
  deps: Deps,
): Promise<Answer<'selectPairingEndpoint'>> {
  const row = (await requestById(tx, moved.id)) ?? moved;
  const request = await pairingView(tx, caller, row, deps);
  const endpoint = request[proof.side];
  if (!endpoint) throw new Error('it was just selected');
  return { id: proof.id, request, side: proof.side, endpoint, expires_at: timestamp(proof.expires_at) };
}
