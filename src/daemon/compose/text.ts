/** Renders the chosen messages, and computes the bytes of each part. */
import type { Message } from '../../contract/types.ts';
import { type Group, groupLines, headerLine, notFromUserLines, quietLine, renderBundle } from '../bundle/bundle.ts';
import { bytesOf } from '../bundle/escape.ts';
import { MAX_MESSAGE_BYTES, renderMessage, TRUNCATED_BYTES } from '../bundle/render.ts';
import type { Chosen } from './choose.ts';
import type { ComposeInput, ComposeSeat } from './types.ts';

/** The server to name in commands, if the seats are on several servers. */
export const serverOf = ({ seat }: ComposeSeat, { severalServers }: ComposeInput): string | undefined =>
  severalServers ? seat.origin : undefined;

interface WholeGroup extends Group {
  messages: Message[];
  tooLong: Message[];
  quiet: Message[];
  digest: Message[];
  cut: Map<string, number>;
}

export function textOf(chosen: readonly Chosen[], input: ComposeInput): string {
  const groups = new Map<ComposeSeat, WholeGroup>();
  for (const { seat, message, quiet, form } of chosen) {
    const group = groups.get(seat) ?? {
      ...groupOf(seat, input),
      messages: [],
      tooLong: [],
      quiet: [],
      digest: [],
      // Per seat: another seat may get the same message whole.
      cut: new Map(),
    };
    groups.set(seat, group);
    if (form === 'truncated') group.cut.set(message.id, cutBytes(input));
    if (form === 'digest') (quiet ? group.digest : group.tooLong).push(message);
    else (quiet ? group.quiet : group.messages).push(message);
  }
  for (const { digest, tooLong } of groups.values())
    for (const listed of [digest, tooLong]) listed.sort((a, b) => a.seq - b.seq);
  const { handoffId: handoff, notFromUser } = input;
  return renderBundle([...groups.values()], { ...optionsOf(input), handoff, notFromUser });
}

/** The names of a seat in texts. */
export const groupOf = (seat: ComposeSeat, input: ComposeInput) => ({
  board: seat.seat.board,
  seat: seat.seat.name,
  server: serverOf(seat, input),
  outcomes: seat.outcomes,
});

/** Whether a message is too long for any bundle. */
export const isOversized = ({ body }: Message): boolean => bytesOf(body) > MAX_MESSAGE_BYTES;

/** Bytes of one message with its lines; infinite for an oversized message in full. */
export function messageBytes({ seat, message, form }: Chosen, input: ComposeInput): number {
  if (form === 'full' && isOversized(message)) return Number.POSITIVE_INFINITY;
  const { server, outcomes } = groupOf(seat, input);
  const options = {
    ...optionsOf(input),
    server,
    outcomes,
    cutBytes: form === 'truncated' ? cutBytes(input) : undefined,
  };
  return bytesOf(renderMessage(message, seat.seat.name, options)) + 1;
}

const MAX_COUNT = 99_999;

/** Upper bound of the bytes of a group's own lines. */
export const groupBytes = (seat: ComposeSeat, quiet: boolean, input: ComposeInput): number =>
  bytesOf(
    groupLines(
      { ...groupOf(seat, input), count: MAX_COUNT, quiet },
      { ...optionsOf(input), handoff: input.handoffId },
    ).join('\n'),
  ) + 1;

/** Upper bound of the bytes of a bundle's lines outside groups. */
export const frameBytes = (input: ComposeInput): number =>
  bytesOf(headerLine(MAX_COUNT, [...new Set(input.seats.map(({ seat }) => seat.board))])) +
  bytesOf(quietLine(MAX_COUNT, true)) +
  (input.notFromUser
    ? bytesOf(
        notFromUserLines(
          input.seats.map((seat) => groupOf(seat, input)),
          optionsOf(input),
        ).join('\n'),
      ) + 1
    : 0) +
  2;

const optionsOf = (input: ComposeInput) => ({ seats: input.severalSeats, reserved: input.reservedTags });

const cutBytes = ({ limits }: ComposeInput): number => Math.min(TRUNCATED_BYTES, Math.floor(limits.bundle_bytes / 4));
