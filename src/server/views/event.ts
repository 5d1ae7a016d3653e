/** An event as a reader gets it: whole, or with its data withheld. */
import type { BoardEvent, EventActor } from '../../contract/types.ts';
import type { StoredPolicy } from '../boards/boards.store.ts';
import type { ReadTx } from '../db/tx.ts';
import { postedEvents } from '../messages/messages.store.ts';
import type { EventRow } from '../record/events.store.ts';
import { hashText } from '../text/hash.ts';
import { timestamp } from '../text/time.ts';
import type { Reader } from './place.ts';

/** Who a message is for, by the message's id: what decides whether a reader gets the reactions to it. */
export type Audiences = ReadonlyMap<string, Audience>;

interface Audience {
  sender: string | null;
  /** Absent: everybody. */
  recipients?: string[];
}

/** The audiences that are needed to judge these events; read only where the policy hides messages from anybody. */
export async function audiencesOf(tx: ReadTx, policy: StoredPolicy, events: readonly EventRow[]): Promise<Audiences> {
  const reactions = events.filter((event) => event.type.startsWith('reaction.'));
  if (policy.visibility === 'open' || reactions.length === 0) return new Map();
  const ids = new Set(reactions.map((event) => (JSON.parse(event.data) as { message_id: string }).message_id));
  const rows = await postedEvents(tx, [...ids]);
  return new Map(rows.map((row) => [row.message_id, audienceOf(row)]));
}

function audienceOf(posted: Pick<EventRow, 'actor' | 'data'>): Audience {
  const { recipients } = JSON.parse(posted.data) as { recipients?: string[] };
  const sender = (JSON.parse(posted.actor) as EventActor).member_id;
  return recipients ? { sender, recipients } : { sender };
}

const isFor = ({ sender, recipients }: Audience, reader: Reader): boolean =>
  sender === reader.memberId || recipients === undefined || recipients.includes(reader.memberId);

/** Whether a reader's copy of an event goes without data, by the policy now in force. */
export function isWithheld(event: EventRow, reader: Reader, policy: StoredPolicy, audiences: Audiences): boolean {
  if (reader.kind === 'human') return false;
  if (event.type === 'message.posted') return policy.visibility !== 'open' && !isFor(audienceOf(event), reader);
  if (event.type.startsWith('reaction.')) {
    if (policy.visibility === 'open') return false;
    const audience = audiences.get((JSON.parse(event.data) as { message_id: string }).message_id);
    return !audience || !isFor(audience, reader);
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
