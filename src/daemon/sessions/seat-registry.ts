/** All present and former seats of this machine, from the journal. */
import type { DeliveryMode } from '../../contract/types.ts';
import type { Journal } from '../journal/journal.ts';
import { type SeatIdentity, type SeatRef, seatKey } from '../refs.ts';
import { Seat } from './session.ts';

export class SeatRegistry {
  readonly #journal: Journal;
  readonly #byKey = new Map<string, Seat>();

  constructor(journal: Journal) {
    this.#journal = journal;
    for (const row of journal.seats()) {
      const seat = new Seat(row);
      for (const one of journal.received(row)) seat.received.set(one.message_id, one.seq);
      this.#byKey.set(seatKey(row), seat);
    }
  }

  of(ref: SeatRef): Seat | null {
    return this.#byKey.get(seatKey(ref)) ?? null;
  }

  all(): Seat[] {
    return [...this.#byKey.values()];
  }

  bound(): Seat[] {
    return this.all().filter(({ session }) => session !== null);
  }

  /** The seat, created in memory if it is new; `save` writes it to the journal. */
  getOrCreate(identity: SeatIdentity): Seat {
    const known = this.of(identity);
    if (known) return known;
    const seat = new Seat({
      ...identity,
      cursor: 0,
      mode: 'focused',
      mode_revision: 0,
      generation: 0,
      problem: null,
      problem_at: null,
    });
    this.#byKey.set(seatKey(identity), seat);
    return seat;
  }

  save(seat: Seat, change: Partial<Seat['row']>): void {
    const row = { ...seat.row, ...change };
    this.#journal.saveSeat(row);
    seat.row = row;
  }

  /** Records the mode that was announced to the seat's session. */
  saveAnnouncedMode(ref: SeatRef, mode: DeliveryMode): void {
    const seat = this.of(ref);
    if (!seat?.session) return;
    const { origin, member_id, generation } = seat.row;
    const { key: session_key } = seat.session;
    this.#journal.saveBinding({ origin, member_id, session_key, generation, bound_at: seat.boundAt, told_mode: mode });
    seat.announcedMode = mode;
  }
}
