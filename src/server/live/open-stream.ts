/** The live stream as an operation: everything that can refuse it comes before its first byte. */
import type { Refusal } from '../../contract/errors.ts';
import { onBoard } from '../access/board-access.ts';
import { isPerson } from '../operation/caller.ts';
import { invalidField } from '../operation/refusals.rules.ts';
import type { StreamCase } from '../operation/usecase.ts';

export const openStream: StreamCase<'openStream'>['run'] = async (tx, caller, { query, lastEventId }) => {
  if (query.board === undefined) {
    if (!isPerson(caller)) throw new Error('only a person gets this far without a board');
    return null;
  }
  if (query.boards || query.events) throw badStream(query.boards ? 'boards' : 'events', 'does not go with board');
  const resumed = numberOf(lastEventId) ?? query.after;
  const { board } = await onBoard(tx, caller, query.board);
  const { id, name, head_seq: head } = board;
  const after = resumed ?? head;
  const field = lastEventId === undefined ? 'after' : 'Last-Event-ID';
  if (after > head) throw badStream(field, 'lies beyond the newest event', { head_seq: head });
  return { board: { id, name }, head, after };
};

/** What an `EventSource` sends by itself when it reconnects; it takes the place of `after`. */
function numberOf(lastEventId: string | undefined): number | undefined {
  if (lastEventId === undefined) return undefined;
  if (!/^\d{1,15}$/.test(lastEventId)) throw badStream('Last-Event-ID', 'must be a whole number');
  return Number(lastEventId);
}

const NOT_WITH_BOARD = 'Give board alone to follow one log, or leave it out for the hints of several boards.';
const STREAM_HINTS: Record<string, string> = { boards: NOT_WITH_BOARD, events: NOT_WITH_BOARD };

const badStream = (field: string, problem: string, details?: Record<string, unknown>): Refusal =>
  invalidField(field, problem, STREAM_HINTS[field] ?? 'Read the board again and follow it from its head.', details);
