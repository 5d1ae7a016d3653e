/** Composes the text for a tool boundary of a running turn: the owner's messages, and a notice about the rest. */
import type { Message } from '../../contract/types.ts';
import { bytesOf } from '../bundle/escape.ts';
import { renderNotice } from '../bundle/notice.ts';
import { type Chosen, rotated } from './choose.ts';
import { waitingOf } from './modes.ts';
import { isOversized, serverOf, textOf } from './text.ts';
import type { Composed, ComposeInput, ComposeSeat } from './types.ts';

const NOTICE_BYTES = 3_000;

/** @param room bytes for all of it. */
export function composeBoundary(input: ComposeInput, room: number) {
  const seats = rotated(input.seats, input.rotation).filter(({ mode }) => mode !== 'off');
  const waiting = seats.flatMap((seat) => urgentFirst(waitingOf(seat)).map((message) => ({ seat, message })));
  // Reserves room for the notice, so that a long message does not displace it.
  const told = noticesFor(seats, input, new Set());
  const { chosen, peers } = chooseMessages(waiting, input, room - bytesOf(told.notice) - 1);
  const given = new Set(chosen.map(({ message }) => message.id));
  return { chosen, peers, ...(given.size === 0 ? told : noticesFor(seats, input, given)) };
}

interface SeatMessage {
  seat: ComposeSeat;
  message: Message;
}

function chooseMessages(waiting: readonly SeatMessage[], input: ComposeInput, room: number) {
  const chosen: Chosen[] = [];
  let peers = 0;
  const fits = (more: Chosen, before: readonly Chosen[] = chosen) =>
    !(more.form === 'full' && isOversized(more.message)) && bytesOf(textOf([...before, more], input)) <= room;
  const owners = waiting.filter(({ message }) => message.sender === 'owner');
  for (const each of owners) {
    const whole: Chosen = { ...each, quiet: false, form: 'full' };
    if (fits(whole)) {
      chosen.push(whole);
      continue;
    }
    // The whole message follows in the next bundle; the turn can use its beginning now.
    const start: Chosen = { ...whole, form: 'truncated' };
    if (fits(whole, []) || !fits(start)) break;
    chosen.push(start);
  }
  for (const each of waiting) {
    const next: Chosen = { ...each, quiet: false, form: 'full' };
    if (peers >= input.peersLeft) break;
    if (!mayInterrupt(each) || !fits(next)) continue;
    chosen.push(next);
    peers++;
  }
  return { chosen, peers };
}

/** Whether it is urgent, addressed to this agent, from another agent of its person, who allows interruptions, and not braked. */
const mayInterrupt = ({ seat, message }: SeatMessage): boolean =>
  seat.inbox.midturn_policy === 'my-agents' &&
  message.urgent &&
  message.sender !== 'owner' &&
  message.midturn_peer_sender_id !== undefined &&
  !message.held &&
  !seat.inbox.braked;

/** One notice for each board with messages that were not announced yet. */
function noticesFor(seats: readonly ComposeSeat[], input: ComposeInput, given: ReadonlySet<string>) {
  const texts: string[] = [];
  let left = NOTICE_BYTES;
  const announced: Composed['announced'] = [];
  for (const seat of seats) {
    const waiting = waitingOf(seat).filter(({ id }) => !given.has(id));
    const messages = waiting.filter(({ seq }) => seq > seat.announcedUpTo);
    if (messages.length === 0) continue;
    const { origin, member_id, board, name } = seat.seat;
    const about = { board, seat: name, server: serverOf(seat, input), messages };
    const text = renderNotice(about, { seats: input.severalSeats });
    left -= bytesOf(text) + 1;
    if (left < 0) break;
    texts.push(text);
    announced.push({ origin, member_id, up_to_seq: messages.at(-1)!.seq });
  }
  return { notice: texts.join('\n'), announced };
}

const urgentFirst = (messages: readonly Message[]): Message[] => [
  ...messages.filter(({ urgent }) => urgent),
  ...messages.filter(({ urgent }) => !urgent),
];
