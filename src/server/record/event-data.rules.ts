/** What a stored event says. It may have been damaged in the database, and then says nothing. */
import type { EventActor } from '../../contract/types.ts';

/** Undefined when it cannot be read. */
export const dataOf = <T = Record<string, unknown>>({ data }: { data: string }) => stored<T>(data);

/** No actor of a sound event has this name. */
const UNREADABLE: EventActor = { kind: 'system', member_id: null, name: '(unreadable)', owner: null };

export const actorOf = ({ actor }: { actor: string }): EventActor => stored<EventActor>(actor) ?? UNREADABLE;

function stored<T>(text: string): T | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as T) : undefined;
  } catch {
    return undefined;
  }
}
