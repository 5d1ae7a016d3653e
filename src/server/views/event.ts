/** An event as a reader gets it: whole, or with its data withheld. */
import type { BoardEvent, EventActor } from '../../contract/types.ts';
import type { StoredPolicy } from '../boards/boards.store.ts';
import type { EventRow } from '../record/events.store.ts';
import { hashText } from '../text/hash.ts';
import { timestamp } from '../text/time.ts';
import type { Reader } from './place.ts';

/** Whether a reader's copy of an event goes without data, by the policy now in force. Needs nothing but the event. */
export function isWithheld(event: EventRow, reader: Reader, policy: StoredPolicy): boolean {
  if (reader.kind === 'human') return false;
  if (event.type === 'message.posted') {
    if (policy.visibility === 'open') return false;
    const data = JSON.parse(event.data) as { recipients?: string[] };
    const sender = (JSON.parse(event.actor) as EventActor).member_id;
    return sender !== reader.memberId && data.recipients !== undefined && !data.recipients.includes(reader.memberId);
  }
  if (event.type === 'member.joined' && !policy.show_harness) {
    const data = JSON.parse(event.data) as { kind: string; member_id: string; harness: string | null };
    return data.kind === 'agent' && data.harness !== null && data.member_id !== reader.memberId;
  }
  return false;
}

export function eventView(event: EventRow, withheld: boolean): BoardEvent {
  return {
    id: event.id,
    board_id: event.board_id,
    seq: event.seq,
    type: event.type,
    at: timestamp(event.at),
    actor: JSON.parse(event.actor) as EventActor,
    ...(withheld ? { data_withheld: true as const } : { data: JSON.parse(event.data) as Record<string, unknown> }),
    data_hash: hashText(event.data_hash),
    prev_hash: hashText(event.prev_hash),
    hash: hashText(event.hash),
  };
}
