/** Recognising the lines by which two sessions show each other that messages arrive, while they are being posted. */
import type { WriteTx } from '../db/tx.ts';
import { otherSide, type PairingLine, pinger, readPairingLine, short } from './lines.rules.ts';
import { insertMark, type MarkRow, marksOf } from './marks.store.ts';
import { publish } from './move.steps.ts';
import { requestById, type SubjectRow } from './requests.store.ts';
import { stateAt } from './subject.rules.ts';

/** A message as it counts here. */
interface Posted {
  row: { board_id: string; seq: number; sender_id: string; reply_to_seq: number | null };
  text: string;
  /** Members by id; null: everyone. */
  recipients: readonly string[] | null;
}

/** What a line lacks to be a ping or a reply of its request as it is now. */
export type Flaw = 'ping' | 'reply' | 'link' | 'sender' | 'recipient' | 'generation';

/**
 * Notes a ping or a reply that is one. Any other such line is text, and no reason to refuse a post. The
 * board's row is locked, as in every write that changes its requests.
 */
export async function noteMark(tx: WriteTx, posted: Posted): Promise<void> {
  const line = readPairingLine(posted.text);
  const row = line && (await requestById(tx, line.requestId));
  if (!line || row?.board_id !== posted.row.board_id || stateAt(row, tx.now) !== 'verifying') return;
  const marks = await marksOf(tx, [row.id]);
  if (flawOf(row, line, posted, marks) !== null) return;
  await insertMark(tx, {
    request_id: row.id,
    generation: row.generation,
    direction: line.direction,
    kind: line.kind,
    seq: posted.row.seq,
    ping_seq: line.kind === 'reply' ? posted.row.reply_to_seq : null,
  });
  publish(tx, row);
}

/** Null: it is what it says. */
export function flawOf(row: SubjectRow, line: PairingLine, posted: Posted, marks: readonly MarkRow[]): Flaw | null {
  const { kind, direction, generation } = line;
  if (line.requestId !== row.id) return kind;
  if (generation !== row.generation) return 'generation';
  if (line.nonce !== row[`nonce_${short(direction)}`] || posted.row.seq <= (row.after_seq ?? 0)) return kind;
  const side = kind === 'ping' ? pinger(direction) : otherSide(pinger(direction));
  if (posted.row.sender_id !== row[`${side}_agent_id`]) return 'sender';
  if (posted.recipients?.length !== 1 || posted.recipients[0] !== row[`${otherSide(side)}_agent_id`])
    return 'recipient';
  if (kind === 'ping') return null;
  const answered = marks.some(
    (mark) =>
      mark.kind === 'ping' &&
      mark.direction === direction &&
      mark.generation === generation &&
      mark.seq === posted.row.reply_to_seq,
  );
  return answered ? null : 'link';
}
