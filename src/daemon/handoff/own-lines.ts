/** Our own lines for a session, which belong to no message: about its seats, and about files that other agents work on. */
import { bytesOf } from '../bundle/escape.ts';
import { type GoneDeps, goneLines } from '../sessions/gone.ts';
import type { Effects, Session } from '../sessions/session.ts';

/** Of the lines about files, so that they leave the room of a text to the messages; the others follow with the next text. */
const MAX_PENDING_BYTES = 2_000;

export interface OwnLines {
  text: string;
  effects: Effects;
}

/** The lines that the session was not told yet; none while a carrier is writing a text that may have them. */
export function ownLines(deps: GoneDeps, session: Session): OwnLines {
  const { telling, flight } = session;
  if (telling || (flight && flight.acceptedUs === null)) return { text: '', effects: noEffects };
  const pending = firstLines(session.pendingLines);
  const { lines, ...gone } = goneLines(deps, session);
  return { text: [...pending, ...lines].join('\n'), effects: { ...noEffects, gone, pending } };
}

/** As many lines as fit, at least one. */
function firstLines(lines: readonly string[]): string[] {
  let left = MAX_PENDING_BYTES;
  const end = lines.findIndex((line, at) => {
    left -= bytesOf(line) + 1;
    return at > 0 && left < 0;
  });
  return lines.slice(0, end < 0 ? undefined : end);
}

export const noEffects: Effects = {
  nudges: [],
  modes: [],
  announced: [],
  gone: { lost: [], ended: [] },
  pending: [],
};
