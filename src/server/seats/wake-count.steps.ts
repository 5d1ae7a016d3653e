/** Counts what agents' messages woke, at the acknowledgement that says they were taken. */
import { statement } from '../db/statement.ts';
import type { WriteTx } from '../db/tx.ts';
import { newestWakingAfter } from '../inbox/inbox.store.ts';
import type { MemberRow } from '../members/members.store.ts';
import type { MessageReader } from '../messages/readable.rules.ts';
import { brake } from './brake.steps.ts';
import { brakeAt, takeWake, usualWakes } from './budget.rules.ts';
import { budgetOf, saveBudget } from './budgets.store.ts';

/**
 * Kinds of senders of what concerned an agent between two positions, as in contract/waking.ts; everything does where
 * every message wakes it.
 */
const concerningStatement = statement<
  { board_id: string; me: string; after: number; up_to: number; every: number },
  { kind: 'human' | 'agent' }
>((db, p) =>
  db.raw(
    `SELECT s.kind FROM messages m JOIN members s ON s.id = m.sender_id
     LEFT JOIN message_members x ON x.member_id = ? AND x.seq = m.seq
     WHERE m.board_id = ? AND m.seq > ? AND m.seq <= ? AND m.held = 0 AND m.sender_id <> ?
     AND (x.wakes > 0 OR (m.to_everyone = 1
       AND (? = 1 OR s.kind = 'human' OR m.urgent = 1 OR m.expects_reply = 1
         OR (SELECT r.sender_id FROM messages r WHERE r.board_id = m.board_id AND r.seq = m.reply_to_seq) = ?)))
     GROUP BY s.kind`,
    [p.me, p.board_id, p.after, p.up_to, p.me, p.every, p.me],
  ),
);

/**
 * Numbers of which all is looked at, the newest: an agent that was away acknowledges at once what it never was woken by. Of
 * those before, only what people wrote is looked for.
 */
const LOOKED_AT = 5_000;

/**
 * Counts a wake if agents' messages concerned the seat between these positions and none of a person did. The last one of
 * its budget brakes the seat. The seat's row is locked.
 */
export async function countWake(
  tx: WriteTx,
  { member, reader }: { member: MemberRow; reader: MessageReader },
  { after, upTo }: { after: number; upTo: number },
): Promise<void> {
  const boardId = member.board_id;
  const from = Math.max(after, upTo - LOOKED_AT);
  const of = { board_id: boardId, me: member.id, after: from, up_to: upTo };
  const kinds = await tx.all(concerningStatement, { ...of, every: member.delivery_mode === 'all' ? 1 : 0 });
  if (kinds.length !== 1 || kinds[0]?.kind !== 'agent' || brakeAt(member, tx.now)) return;
  const before = { boardId, after, upTo: from, people: true };
  if (from > after && (await newestWakingAfter(tx, reader, before)) > 0) return;
  const budget = await budgetOf(tx, member.id);
  const limits = budget.wakes ?? usualWakes;
  if (limits === 'off') return;
  const { buckets, until } = takeWake(budget.buckets, limits, tx.now);
  await saveBudget(tx, member.id, { ...budget, buckets });
  if (until !== null) await brake(tx, member, until, 'wakes');
}
