/** How messages reach an agent: what in an inbox wakes an idle session, and what is quiet. */
import type { Message } from '../../contract/types.ts';
import { concerns, wakesAgent } from '../../contract/waking.ts';
import type { Notice } from '../server-link/link.ts';
import type { ComposeSeat } from './types.ts';

/** Messages that may be given at all: still unread, and not on another way. */
export const waitingOf = ({ inbox, skip }: ComposeSeat): Message[] =>
  inbox.messages.filter(({ id, seq }) => seq > inbox.cursor && !skip.has(id));

/** A word of the person whose agent reads it, as the server says. */
export const isOwners = ({ sender }: Message): boolean => sender === 'owner';

const decisions = new Set<string>(['approval_allowed', 'approval_declined', 'approval_expired']);

/** Whether a notice is the decision about something the agent asked for, which wakes it. */
export const isDecision = ({ kind }: Notice): boolean => decisions.has(kind);

/** Whether a message stands apart because it need not be looked at. */
export const isQuiet = (seat: ComposeSeat, message: Message): boolean =>
  message.held === true || (seat.mode !== 'all' && !concerns(message, agentOf(seat)));

/** Whether something in there wakes an idle session. */
export function wakes(seat: ComposeSeat): boolean {
  if (seat.mode === 'off') return false;
  if (seat.notices.some(isDecision)) return true;
  return hasWaking(seat);
}

/** Whether nothing in there is of a person, neither a message nor a decision. */
export const onlyFromAgents = (seats: readonly ComposeSeat[]): boolean =>
  seats.every(
    (seat) =>
      seat.mode === 'off' ||
      (!seat.notices.some(isDecision) && waitingOf(seat).every(({ from }) => from.kind !== 'human')),
  );

/** The same of its messages alone. */
export const hasWaking = (seat: ComposeSeat): boolean =>
  seat.mode !== 'off' &&
  waitingOf(seat).some(
    (message) => wakesAgent(message, agentOf(seat)) || (seat.heldBack.has(message.id) && !isQuiet(seat, message)),
  );

/** Whether what agents wrote to the seat is delivered only together with a person's message, and none is there. */
export const waitsForPerson = (seat: ComposeSeat): boolean =>
  (seat.mode === 'humans' || seat.inbox.braked !== undefined) && !hasWaking(seat);

/** The agent as its messages name it now, and what the server says of waking it. */
const agentOf = ({ mode, inbox }: ComposeSeat) => ({
  id: inbox.member_id,
  name: inbox.agent,
  mode,
  braked: inbox.braked !== undefined,
});
