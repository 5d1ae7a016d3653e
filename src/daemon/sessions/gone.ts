/** Seats that a session no longer has, because another session took them or they ended. It is told once of each. */
import { quoted, shellWord } from '../bundle/escape.ts';
import type { Journal } from '../journal/journal.ts';
import type { LostRow } from '../journal/rows.ts';
import { isFinal } from '../refs.ts';
import type { SavedSeats } from './saved-seats.ts';
import type { SeatRegistry } from './seat-registry.ts';
import type { GoneSeats, Session } from './session.ts';

export interface GoneDeps {
  journal: Journal;
  seats: SeatRegistry;
  saved: SavedSeats;
}

/** The code under which the journal records that a session was told of the end of a seat. */
const SEAT_ENDED = 'seat_ended';

/** The seats that a session lost to another one and that it can take back. */
export const lostBy = ({ journal, seats }: Omit<GoneDeps, 'saved'>, session: Session): LostRow[] =>
  journal.lostOf(session.key).filter((row) => !isFinal(seats.of(row)?.row.problem));

/** The lines for a session. @param again also of lost seats that it was told of, which it can take back */
export function goneLines(deps: GoneDeps, session: Session, again = false): GoneSeats & { lines: string[] } {
  const { journal, saved } = deps;
  const lost = lostBy(deps, session).filter(({ told }) => again || told === 0);
  const ended = [...session.seats]
    .filter(({ row }) => isFinal(row.problem))
    .map((seat) => ({ seat, key: `${session.key} ${seat.row.problem_at}` }))
    .filter(({ seat, key }) => !journal.nudged(seat.row, SEAT_ENDED, key));
  return {
    lines: [
      ...ended.map(({ seat }) => `service: you are no longer on ${quoted(seat.row.board)}`),
      ...lost.map(
        (seat) =>
          `service: another session took ${quoted(seat.name)} on ${quoted(seat.board)}. To take it back: service resume ${shellWord(saved.selector(seat))}`,
      ),
    ],
    lost,
    ended: ended.map(({ seat, key }) => ({ origin: seat.row.origin, member_id: seat.row.member_id, key })),
  };
}

/** Records that a session was told. */
export function saveGoneTold(journal: Journal, session: Session, { lost, ended }: GoneSeats, now: number): void {
  for (const seat of lost) journal.saveToldOfLost(session.key, seat);
  for (const { key, ...seat } of ended) journal.saveNudge(seat, SEAT_ENDED, key, now);
}
