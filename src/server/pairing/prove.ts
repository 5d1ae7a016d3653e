/** What the selected sessions' runtimes do with their proofs: the recipient accepts, and each side reports its round trip. */
import type { Body } from '../../contract/types.ts';
import type { WriteTx } from '../db/tx.ts';
import type { PairingCaller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { pairingView } from '../views/pairing.ts';
import { requireRoundTrip } from './evidence.steps.ts';
import { lockOwnPairing } from './find.steps.ts';
import { pinger, short } from './lines.rules.ts';
import { move } from './move.steps.ts';
import { notYours, pairingChanged } from './refusals.rules.ts';
import type { SubjectRow } from './requests.store.ts';
import { type Evidence, stateAt } from './subject.rules.ts';

/**
 * Gives the inviter no control over anything. A repeat changes nothing; before a kept answer is looked for, the credential is
 * read, which works only while its request and generation stand.
 */
export const acceptPairing: WriteCase<'acceptPairing'> = {
  async run(tx, found, { params, body: { agent_id, generation }, deps }) {
    const caller = found as PairingCaller;
    const { row } = await lockOwnPairing(tx, caller, params.pairing);
    const { proof } = caller;
    if (proof.side !== 'recipient') throw notYours('the recipient');
    if (agent_id !== proof.agent_id || generation !== proof.generation) throw pairingChanged();
    const moved = row.accepted === 1 ? row : await move(tx, row, 'accept', { side: 'recipient' });
    return { answer: await pairingView(tx, caller, moved, deps) };
  },
};

export const verifyPairing: WriteCase<'verifyPairing'> = {
  async run(tx, found, { params, body, deps }) {
    const caller = found as PairingCaller;
    const { row } = await lockOwnPairing(tx, caller, params.pairing);
    const moved = await verify(tx, caller, row, body);
    return { answer: await pairingView(tx, caller, moved, deps) };
  },
};

async function verify(
  tx: WriteTx,
  { proof }: PairingCaller,
  row: SubjectRow,
  { generation, direction, ping_seq, reply_seq, handoff_id }: Body<'verifyPairing'>,
): Promise<SubjectRow> {
  if (generation !== row.generation || stateAt(row, tx.now) !== 'verifying') throw pairingChanged();
  if (pinger(direction) !== proof.side) throw notYours('the side that pings in this direction');
  await requireRoundTrip(tx, row, direction, { ping_seq, reply_seq });
  const evidence: Evidence = { ping_seq, reply_seq, handoff_id };
  const stored = row[`evidence_${short(direction)}`];
  if (stored === null) return move(tx, row, 'verify', { side: proof.side, evidence });
  if (stored !== JSON.stringify(evidence)) throw pairingChanged('Another round trip is on file for this direction.');
  return row;
}
