/** Threads of a board, the one with the newest readable reply first. */
import { Refusal } from '../../contract/errors.ts';
import { onBoard, type Place } from '../access/board-access.ts';
import type { ReadTx } from '../db/tx.ts';
import type { ReadCase } from '../operation/usecase.ts';
import { groupBy } from '../text/group.ts';
import { messageViews } from '../views/message.ts';
import { PAGE_BYTES } from '../views/window.ts';
import { messagesWithSeqs } from './messages.store.ts';
import { newestThreads, type Thread, threadSenders } from './threads.store.ts';

export const listThreads: ReadCase<'listThreads'>['run'] = async (tx, caller, { params, query }) => {
  const place = await onBoard(tx, caller, params['board'] ?? '');
  const found = await newestThreads(tx, place.board.id, place.reader, before(query.after), query.limit + 1);
  const page = found.slice(0, query.limit);
  const threads = await withParticipants(tx, place, page);
  const shown = fitting(threads);
  const last = page[shown.length - 1];
  const more = shown.length < found.length;
  return { board: place.board.name, threads: shown, next_after: more && last ? cursor(last) : null };
};

/** Where the next page starts: the number of the newest reply of the last thread listed. */
const cursor = ({ newest }: Thread): string => Buffer.from(`t${newest}`).toString('base64url');

/** @throws Refusal `invalid_request` for what no page gave. */
function before(after: string | undefined): number | null {
  if (after === undefined) return null;
  const match = /^t(\d{1,15})$/.exec(Buffer.from(after, 'base64url').toString('utf8'));
  if (match) return Number(match[1]);
  throw new Refusal('invalid_request', 'after: was not given by a page of this list.', {
    hint: 'Start again without it, then hand back next_after as it comes.',
    details: { field: 'after', problem: 'was not given by a page of this list' },
  });
}

async function withParticipants(tx: ReadTx, place: Place, threads: Thread[]) {
  const seqs = threads.map((thread) => thread.root_seq);
  if (seqs.length === 0) return [];
  const roots = new Map(
    (await messageViews(tx, place, await messagesWithSeqs(tx, place.board.id, seqs))).map((root) => [root.seq, root]),
  );
  const senders = groupBy(await threadSenders(tx, place.board.id, seqs, place.reader), (sender) => sender.root_seq);
  return threads.flatMap(({ root_seq }) => {
    const root = roots.get(root_seq);
    if (!root) return [];
    const names = (senders.get(root_seq) ?? []).map((sender) => sender.name);
    return [{ root, participants: [...new Set([root.from.name, ...names])] }];
  });
}

/** The leading threads whose JSON stays within one page's bytes; at least one. */
function fitting<T>(threads: T[]): T[] {
  let bytes = 0;
  const end = threads.findIndex((thread, index) => {
    bytes += Buffer.byteLength(JSON.stringify(thread));
    return index > 0 && bytes > PAGE_BYTES;
  });
  return end === -1 ? threads : threads.slice(0, end);
}
