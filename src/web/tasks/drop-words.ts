/** Says how a member's part in a task ended, in the conversation, the record and the task's history alike. */
import type { BoardEvent } from '../../contract/types.ts';

/**
 * The verb of a `task.dropped` event, between the actor's name and the task.
 *
 * @param nameOf returns the name of a member by id
 */
export function dropVerb({ data = {}, actor }: BoardEvent, nameOf: (member: string) => string): string {
  const member = String(data['member_id']);
  // An agent that leaves the board ends its own seat.
  if (member === actor.member_id) return data['as'] === 'helper' ? 'stopped helping with' : 'gave up';
  return data['by'] === 'seat_ended' ? `ended the part of ${nameOf(member)} in` : `took ${nameOf(member)} off`;
}
