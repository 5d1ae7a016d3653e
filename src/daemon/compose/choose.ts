/** Selects the messages that may be delivered, and orders them. */
import type { Message } from '../../contract/types.ts';
import { hasWaking, isOwners, isQuiet, waitingOf, waitsForPerson } from './modes.ts';
import type { ComposeInput, ComposeSeat, MessageForm } from './types.ts';

export interface Chosen {
  seat: ComposeSeat;
  message: Message;
  quiet: boolean;
  form: MessageForm;
  /** Longer than the whole text may be. */
  tooLong?: boolean;
}

/** The seats, rotated for each handoff, so that a different one comes first each time. */
export function rotated(seats: readonly ComposeSeat[], rotation: number): ComposeSeat[] {
  const at = seats.length === 0 ? 0 : rotation % seats.length;
  return [...seats.slice(at), ...seats.slice(0, at)];
}

/** The messages that may be delivered: urgent ones first, then those that concern the agent, then quiet ones. */
export function candidates(input: ComposeInput): Chosen[] {
  const seats = rotated(input.seats, input.rotation);
  // A decision alone does not deliver messages.
  const waking = seats.some(hasWaking);
  const found = seats.map((seat) =>
    eligible(seat, input.point, waking)
      .filter((message) => !input.ownerOnly || isOwners(message))
      .map((message): Chosen => ({ seat, message, quiet: isQuiet(seat, message), form: 'full' })),
  );
  const main = found.flatMap((each) => {
    const loud = each.filter(({ quiet }) => !quiet);
    return [...loud.filter(({ message }) => message.urgent), ...loud.filter(({ message }) => !message.urgent)];
  });
  // All quiet ones of a seat together: a digest of them takes all that follow of that seat.
  const all = [...main, ...found.flatMap((each) => each.filter(({ quiet }) => quiet))];
  return earlierSelection(all, input.frozen) ?? all;
}

function eligible(seat: ComposeSeat, point: ComposeInput['point'], waking: boolean): Message[] {
  if (seat.mode === 'off') return [];
  const waiting = waitingOf(seat);
  const again = waiting.filter(({ id }) => seat.retry.has(id) || seat.heldBack.has(id));
  if (point === 'turn_start') return seat.mode === 'focused' && !waitsForPerson(seat) ? waiting : again;
  return waking && !waitsForPerson(seat) ? waiting : [];
}

/** The messages of an earlier attempt, in its order; null unless all of them are still unread. */
function earlierSelection(all: Chosen[], frozen: ComposeInput['frozen']): Chosen[] | null {
  if (!frozen || frozen.length === 0) return null;
  const key = (origin: string, member: string, message: string) => `${origin} ${member} ${message}`;
  const found = new Map(
    all.map((one) => [key(one.seat.seat.origin, one.seat.seat.member_id, one.message.id), one] as const),
  );
  const there = frozen.flatMap(
    ({ origin, member_id, message_id }) => found.get(key(origin, member_id, message_id)) ?? [],
  );
  return there.length === frozen.length ? there : null;
}
