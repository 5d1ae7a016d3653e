/** Threads of a board, the one with the newest readable reply first. */
import { onBoard, type Place } from '../access/board-access.ts';
import type { ReadTx } from '../db/tx.ts';
import type { ReadCase } from '../operation/usecase.ts';
import { boundToken, readBoundNumber } from '../text/bound-token.ts';
import { indexBy } from '../text/rows.ts';
import { messagesAt } from '../views/message.ts';
import { fitting } from '../views/window.ts';
import { newestThreads, type Thread, threadSenders } from './threads.store.ts';

export const listThreads: ReadCase<'listThreads'>['run'] = async (tx, caller, { params, query }) => {
  const place = await onBoard(tx, caller, params.board);
  const before = readBoundNumber(place.board.id, query.after);
  const found = await newestThreads(tx, place.board.id, place.reader, before, query.limit + 1);
  const page = found.slice(0, query.limit);
  const threads = await withParticipants(tx, place, page);
  const shown = fitting(threads);
  const last = page[shown.length - 1];
  const more = shown.length < found.length;
  // The next page starts at the newest reply of the last thread listed.
  const next_after = more && last ? boundToken(place.board.id, last.newest) : null;
  return { board: place.board.name, threads: shown, next_after };
};

async function withParticipants(tx: ReadTx, place: Place, threads: Thread[]) {
  const seqs = threads.map((thread) => thread.root_seq);
  if (seqs.length === 0) return [];
  const roots = indexBy(await messagesAt(tx, place, seqs), 'seq');
  const senders = Map.groupBy(await threadSenders(tx, place.board.id, seqs, place.reader), (sender) => sender.root_seq);
  return threads.flatMap(({ root_seq }) => {
    const root = roots.get(root_seq);
    if (!root) return [];
    const names = (senders.get(root_seq) ?? []).map((sender) => sender.name);
    return [{ root, participants: [...new Set([root.from.name, ...names])] }];
  });
}
