/** Our own lines before the messages: a changed mode, decisions, notices, reminders. */
import { modeTexts } from '../../contract/waking.ts';
import { bytesOf, firstBytes, quoted, quotedLong } from '../bundle/escape.ts';
import { boardFlags } from '../bundle/options.ts';
import type { SeatIdentity } from '../refs.ts';
import type { Notice } from '../server-link/link.ts';
import { allowedCommand } from './allowed-command.ts';
import { isDecision } from './modes.ts';
import { MAX_REMINDER_BYTES, reminders } from './reminders.ts';
import { serverOf } from './text.ts';
import type { Composed, ComposeInput, ComposeSeat } from './types.ts';

/** Limit of one line about a decision, a notice or a changed mode. */
const MAX_LINE_BYTES = 400;

export interface Lines extends Pick<Composed, 'notices' | 'nudges' | 'modes'> {
  /** Lines before everything else. */
  nudge: string[];
  /** Lines of notices, which are part of the handoff. */
  noticeLines: string[];
}

export const emptyLines = (): Lines => ({ nudge: [], noticeLines: [], notices: [], nudges: [], modes: [] });

/** The lines for this point, in at most `room` bytes; the rest waits. */
export function linesFor(input: ComposeInput, room: number): Lines {
  const lines = emptyLines();
  const { point, seats, now, severalSeats } = input;
  let left = room;
  const add = (to: string[], text: string, limit: number): boolean => {
    const line = firstBytes(text, limit);
    const bytes = bytesOf(line) + 1;
    if (bytes > left) return false;
    left -= bytes;
    to.push(line);
    return true;
  };
  const refs = ({ seat: { origin, member_id } }: ComposeSeat) => ({ origin, member_id });
  // Two thresholds may have the same reminder, which is shown once.
  const said = new Set<string>();
  if (point !== 'boundary') {
    for (const seat of seats) {
      const text = modeChanged(seat, input);
      if (text !== null && add(lines.nudge, text, MAX_LINE_BYTES)) lines.modes.push({ ...refs(seat), mode: seat.mode });
    }
    for (const decided of [true, false]) {
      for (const seat of seats) {
        for (const notice of seat.notices.filter((each) => isDecision(each) === decided)) {
          if (add(lines.noticeLines, noticeLine(notice, seat.seat, severalSeats), MAX_LINE_BYTES))
            lines.notices.push({ ...refs(seat), id: notice.id });
        }
      }
    }
  }
  for (const seat of seats) {
    const on = boardFlags(seat.seat.board, { seats: severalSeats, server: serverOf(seat, input) });
    for (const { code, key, text } of reminders(seat, point, now, on)) {
      if (said.has(text) || add(lines.nudge, text, MAX_REMINDER_BYTES)) {
        said.add(text);
        lines.nudges.push({ ...refs(seat), code, key });
      }
    }
  }
  return lines;
}

/** Null if the session knows the mode, or no mode was announced yet. */
function modeChanged({ seat, mode, announcedMode }: ComposeSeat, { severalSeats }: ComposeInput): string | null {
  if (announcedMode === null || announcedMode === mode) return null;
  const whose = severalSeats ? ` for ${quoted(seat.name)} on ${quoted(seat.board)}` : '';
  return `service: Delivery${whose} is now ${mode}, it was ${announcedMode}. ${modeTexts[mode]}`;
}

const decisionWords: Record<string, string> = {
  approval_allowed: 'allowed',
  approval_declined: 'declined',
  approval_expired: 'expired',
};

/** The server's text is escaped like a sender's. A long text is truncated, its command is not. */
function noticeLine({ kind, approval_id: approval, text, next }: Notice, seat: SeatIdentity, seats: boolean): string {
  const own = allowedCommand(next, seat.origin, boardFlags(seat.board, { seats }));
  const command = own === null ? '' : ` ${own}`;
  const state = decisionWords[kind];
  if (state !== undefined) return `service: your request ${quoted(approval ?? '')} was ${state}.${command}`;
  const room = MAX_LINE_BYTES - bytesOf(command) - bytesOf('service: ');
  return `service: ${firstBytes(quotedLong(text), Math.max(80, room))}${command}`;
}
