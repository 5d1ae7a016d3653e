/** Unread counts: differences of running counts kept on board and member rows, so that no rows are counted. */
import type { MemberPosition, MemberRow } from '../members/member.rules.ts';

/** Messages after a person's position that they did not send. */
export function personUnread(board: { message_count: number }, member: MemberPosition): number {
  return board.message_count - member.read_count - (member.sent_count - member.read_sent_count);
}

/** The size of an agent's inbox: messages to everyone by difference, with those that name the agent (`waking`). */
export function agentUnread(board: { everyone_count: number }, member: MemberRow, waking: { count: number }): number {
  const sent = member.sent_everyone_count - member.read_sent_everyone_count;
  return board.everyone_count - member.read_everyone_count - sent + waking.count;
}
