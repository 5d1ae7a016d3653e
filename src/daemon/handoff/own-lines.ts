/** Our own lines for a session, which belong to no message: about its seats, and about files that other agents work on. */
import { type GoneDeps, goneLines } from '../sessions/gone.ts';
import type { Effects, Session } from '../sessions/session.ts';

export interface OwnLines {
  text: string;
  effects: Effects;
}

/** The lines that the session was not told yet; none while a carrier is writing a text that may have them. */
export function ownLines(deps: GoneDeps, session: Session): OwnLines {
  const { telling, flight } = session;
  if (telling || (flight && flight.acceptedUs === null)) return { text: '', effects: noEffects };
  const pending = [...session.pendingLines];
  const { lines, ...gone } = goneLines(deps, session);
  return { text: [...pending, ...lines].join('\n'), effects: { ...noEffects, gone, pending } };
}

export const noEffects: Effects = {
  nudges: [],
  modes: [],
  announced: [],
  gone: { lost: [], ended: [] },
  pending: [],
};
