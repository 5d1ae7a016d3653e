/** An event as a reader gets it: whole, or with its data withheld. */

import type { StoredPolicy } from '../../contract/policy.ts';
import type { BoardEvent } from '../../contract/types.ts';
import type { Reader } from '../access/board-access.ts';
import type { ReadTx } from '../db/tx.ts';
import { postedEvents } from '../messages/messages.store.ts';
import { actorOf, dataOf } from '../record/event-data.rules.ts';
import type { EventRow } from '../record/events.store.ts';
import { hashText } from '../text/hash.ts';
import { timestamp } from '../text/time.ts';

/** Who a message is for, by the message's id: what decides whether a reader gets the events about it. */
export type Audiences = ReadonlyMap<string, Audience>;

interface Audience {
  sender: string | null;
  /** Absent: everybody. */
  recipients?: string[];
}

/** Events about a message that was posted before: a reader who may not read that message does not get them. */
const isAboutMessage = ({ type }: Pick<EventRow, 'type'>): boolean => /^(reaction|thread)\./.test(type);

/** The audiences that are needed to judge these events; read only where the policy hides messages from anybody. */
export async function audiencesOf(tx: ReadTx, policy: StoredPolicy, events: readonly EventRow[]): Promise<Audiences> {
  const about = events.filter(isAboutMessage);
  if (policy.visibility === 'open' || about.length === 0) return new Map();
  const ids = new Set(about.map((event) => dataOf(event)?.['message_id']).filter((id) => typeof id === 'string'));
  const rows = await postedEvents(tx, [...ids]);
  return new Map(rows.map((row) => [row.message_id, audienceOf(row)]));
}

/** Of a posted message; one that cannot be read any more is for nobody. */
export function audienceOf(posted: Pick<EventRow, 'actor' | 'data'>): Audience {
  const { recipients } = dataOf(posted) ?? { recipients: [] };
  const sender = actorOf(posted).member_id;
  if (recipients === undefined) return { sender };
  return { sender, recipients: Array.isArray(recipients) ? recipients : [] };
}

/** Shown as 1970 where it is no time any more. */
const timeOf = ({ at }: Pick<EventRow, 'at'>): string => timestamp(Number.isNaN(new Date(at).getTime()) ? 0 : at);

/** Whether a message of this audience is its reader's to read under the policy `addressed`. */
export const isFor = ({ sender, recipients }: Audience, reader: Reader): boolean =>
  sender === reader.memberId || recipients === undefined || recipients.includes(reader.memberId);

/** Whether a reader's copy of an event goes without data, by the policy now in force. */
export function isWithheld(event: EventRow, reader: Reader, policy: StoredPolicy, audiences: Audiences): boolean {
  if (reader.kind === 'human') return false;
  if (event.type === 'message.posted') return policy.visibility !== 'open' && !isFor(audienceOf(event), reader);
  if (isAboutMessage(event)) {
    if (policy.visibility === 'open') return false;
    const audience = audiences.get(dataOf(event)?.['message_id'] as string);
    return !audience || !isFor(audience, reader);
  }
  if (event.type === 'member.joined' && !policy.show_harness) {
    const data = dataOf(event);
    return data?.['kind'] === 'agent' && data['harness'] !== null && data['member_id'] !== reader.memberId;
  }
  return false;
}

/**
 * A damaged row is shown without the parts that cannot be read: verifying the record finds its number, and the rest of
 * the record stays readable.
 */
export function eventView(event: EventRow, withheld: boolean): BoardEvent {
  const data = dataOf(event);
  return {
    id: event.id,
    board_id: event.board_id,
    seq: event.seq,
    type: event.type,
    at: timeOf(event),
    actor: actorOf(event),
    ...(!data ? {} : withheld ? { data_withheld: true as const } : { data }),
    data_hash: hashText(event.data_hash),
    prev_hash: hashText(event.prev_hash),
    hash: hashText(event.hash),
  };
}
