/** Brakes seats, so that agents' messages do not wake them, and lets them go on. */
import type { WriteTx } from '../db/tx.ts';
import { type MemberRow, saveMember } from '../members/members.store.ts';
import { type Brake, type BrakeReason, brakeAt } from './budget.rules.ts';
import { brakeReading } from './budgets.store.ts';

type Seat = Pick<MemberRow, 'id' | 'board_id' | 'person_id'>;

/** From now on agents' messages do not wake the seat until that moment. A longer brake stays, unless an acknowledgement ends it. */
export async function brake(tx: WriteTx, member: MemberRow, until: number, reason: BrakeReason): Promise<void> {
  const held = brakeAt(member, tx.now);
  if (held && held.reason !== 'reads' && held.until >= until) return;
  await saveMember(tx, member.id, { braked_until: until, braked_reason: reason, braked_at: tx.now });
  tellBraked(tx, member);
}

/** Brakes a seat that acknowledges nothing of what it reads, if it is still at this position and nothing brakes it. */
export async function brakeReads(tx: WriteTx, member: MemberRow, until: number): Promise<void> {
  if ((await brakeReading(tx, member, until)) > 0) tellBraked(tx, member);
}

/** What its person and its board are shown. */
function tellBraked(tx: WriteTx, { board_id, person_id }: Seat): void {
  tx.publish(`presence:${board_id}`);
  tx.publish(`positions:${person_id}`);
}

/**
 * Writes what brakes the seat, if anything does, has its waiting reads counted anew, and tells everybody who waits for the end
 * of what braked it.
 */
export async function changeBrake(tx: WriteTx, seat: Seat, changed: Brake): Promise<void> {
  await saveMember(tx, seat.id, { ...changed, reads_since: null });
  tellBraked(tx, seat);
  tx.publish(`seat:${seat.id}`);
  // Its streams have what waited.
  tx.publish(`board:${seat.board_id}`);
}
