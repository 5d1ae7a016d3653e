/** Whether two messages prove a round trip: both were marked when they were posted, and the reply answers that ping. */
import type { PairingDirection } from '../../contract/types.ts';
import type { WriteTx } from '../db/tx.ts';
import { messageBySeq, postedEvents } from '../messages/messages.store.ts';
import { postedIn } from '../messages/posted.rules.ts';
import { readPairingLine } from './lines.rules.ts';
import { type Flaw, flawOf } from './marks.steps.ts';
import { type MarkRow, marksOf } from './marks.store.ts';
import { evidenceInvalid } from './refusals.rules.ts';
import type { SubjectRow } from './requests.store.ts';

/** @throws Refusal `pairing_evidence_invalid` with what is wrong of it. */
export async function requireRoundTrip(
  tx: WriteTx,
  row: SubjectRow,
  direction: PairingDirection,
  { ping_seq, reply_seq }: { ping_seq: number; reply_seq: number },
): Promise<void> {
  const marks = await marksOf(tx, [row.id]);
  await requireMark(tx, row, marks, { direction, kind: 'ping', seq: ping_seq });
  const reply = await requireMark(tx, row, marks, { direction, kind: 'reply', seq: reply_seq });
  if (reply.ping_seq !== ping_seq) throw evidenceInvalid('link');
}

type Sought = Pick<MarkRow, 'direction' | 'kind' | 'seq'>;

async function requireMark(tx: WriteTx, row: SubjectRow, marks: MarkRow[], sought: Sought): Promise<MarkRow> {
  const { direction, kind, seq } = sought;
  const mark = marks.find(
    (each) =>
      each.generation === row.generation && each.direction === direction && each.kind === kind && each.seq === seq,
  );
  if (!mark) throw evidenceInvalid((await why(tx, row, marks, sought)) ?? kind);
  return mark;
}

/** What kept a message from being marked, as far as the message itself says it; null: it is no such message. */
async function why(tx: WriteTx, row: SubjectRow, marks: MarkRow[], sought: Sought): Promise<Flaw | null> {
  const message = await messageBySeq(tx, row.board_id, sought.seq);
  const [event] = message ? await postedEvents(tx, [message.id]) : [];
  if (!message || !event) return null;
  const data = postedIn(event);
  const line = readPairingLine(data.body);
  if (!line || line.kind !== sought.kind || line.direction !== sought.direction) return null;
  return flawOf(row, line, { row: message, text: data.body, recipients: data.recipients ?? null }, marks);
}
