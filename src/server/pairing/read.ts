/** Reading pairing requests. It selects nothing and moves no position. */
import type { ReadCase } from '../operation/usecase.ts';
import { cutPage, readPageToken } from '../text/page-token.ts';
import { pairingView, pairingViews } from '../views/pairing.ts';
import { findPairing, seenRequests } from './find.steps.ts';
import { isClosed } from './pairing-states.rules.ts';
import type { SubjectRow } from './requests.store.ts';
import { stateAt } from './subject.rules.ts';

/** Newest first; ended ones for seven days. */
export const listPairingRequests: ReadCase<'listPairingRequests'>['run'] = async (
  tx,
  caller,
  { query: { state, limit, after }, deps },
) => {
  const from = readPageToken(after);
  const rows = (await seenRequests(tx, caller)).filter((row) => {
    const closed = isClosed(stateAt(row, tx.now));
    const wanted = state === 'all' || closed === (state === 'closed');
    return wanted && (from === null || comesAfter(row, from));
  });
  const { page, next_after } = cutPage(rows.slice(0, limit + 1), limit);
  return { requests: await pairingViews(tx, caller, page, deps), next_after };
};

const comesAfter = (row: SubjectRow, from: { created_at: number; id: string }): boolean =>
  row.created_at < from.created_at || (row.created_at === from.created_at && row.id < from.id);

export const getPairingRequest: ReadCase<'getPairingRequest'>['run'] = async (tx, caller, { params, deps }) => {
  return pairingView(tx, caller, await findPairing(tx, caller, params.pairing), deps);
};
