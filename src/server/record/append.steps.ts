/** Appending to a board's record: number, time, canonical data and the hash that chains it to what came before. */
import { canonicalJson } from '../../contract/canonical.ts';
import { envelopeText } from '../../contract/chain.ts';
import type { EventActor } from '../../contract/types.ts';
import { type BoardRow, saveHead } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { hashText, sha256 } from '../text/hash.ts';
import { newId } from '../text/ids.ts';
import { timestamp } from '../text/time.ts';
import { type EventRow, insertEvent } from './events.store.ts';

/** What an event caused by an allowance or an approval says of it. */
export interface Authorized {
  authorization?: Record<string, unknown>;
  action_kind?: 'invited' | 'added' | 'role_changed';
}

interface Entry {
  type: string;
  actor: EventActor;
  data: Record<string, unknown>;
}

/**
 * Appends one event to a board whose row this transaction has locked. The row's new head is written once, before the commit,
 * and everybody who watches the board is woken after it. Time never runs backwards on a board.
 */
export async function append(tx: WriteTx, board: BoardRow, entry: Entry): Promise<EventRow> {
  const id = newId('evt', tx.now);
  const seq = board.head_seq + 1;
  const at = Math.max(tx.now, board.head_at);
  const data = canonicalJson(entry.data);
  const dataHash = sha256(data);
  const prevHash = board.head_hash;
  const ownHash = sha256(
    envelopeText({
      actor: entry.actor,
      at: timestamp(at),
      board_id: board.id,
      data_hash: `sha256:${dataHash}`,
      id,
      prev_hash: hashText(prevHash),
      seq,
      type: entry.type,
    }),
  );
  const row: EventRow = {
    board_id: board.id,
    seq,
    id,
    type: entry.type,
    at,
    actor: JSON.stringify(entry.actor),
    data,
    data_hash: Buffer.from(dataHash, 'hex'),
    prev_hash: prevHash,
    hash: Buffer.from(ownHash, 'hex'),
  };
  await insertEvent(tx, row);
  board.head_seq = seq;
  board.head_at = at;
  board.head_hash = row.hash;
  tx.beforeCommit(`head:${board.id}`, async () => {
    await saveHead(tx, board);
  });
  tx.publish(`board:${board.id}`);
  return row;
}

/** What stands before a board's first event. */
export const ZERO = Buffer.alloc(32);
