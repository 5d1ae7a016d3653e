/** The seats in `credentials.json` that this machine has tokens for, without the tokens. */
import { allSeats, selectorOf } from '../../local/actors.ts';
import type { SavedSeat } from '../../local/keys/credentials.ts';
import { canonicalOrigin } from '../../local/origin.ts';
import type { AgentRef } from '../protocol.ts';
import type { SeatIdentity } from '../refs.ts';
import type { CredentialStore } from '../server-link/credentials.ts';

export type SavedSeats = ReturnType<typeof savedSeats>;

export function savedSeats(credentials: CredentialStore) {
  const all = (): SeatIdentity[] =>
    credentials
      .origins()
      .flatMap(({ origin, entry }) => Object.entries(entry.seats).flatMap(([id, seat]) => identity(origin, id, seat)));
  return {
    /**
     * The seats that match a reference: by `member_id` if it has one, else by server, board and name.
     */
    find: (ref: AgentRef): SeatIdentity[] => all().filter((seat) => matches(seat, ref, credentials)),
    /** How a command names a seat so that only it is meant, as far as the saved seats can be read. */
    selector(seat: Pick<SeatIdentity, 'member_id' | 'name' | 'board'>): string {
      try {
        return selectorOf(seat, allSeats(credentials.saved()));
      } catch {
        return selectorOf(seat, []);
      }
    },
  };
}

/** Empty for a seat without a token. */
function identity(origin: string, member_id: string, { token, board_id, board, name }: SavedSeat): SeatIdentity[] {
  return token === undefined ? [] : [{ origin, member_id, board_id, board, name }];
}

function matches(
  seat: SeatIdentity,
  { server, board, name, member_id, board_id }: AgentRef,
  credentials: CredentialStore,
) {
  if (!credentials.isSame(seat.origin, canonicalOrigin(server))) return false;
  if (member_id !== undefined)
    return seat.member_id === member_id && (board_id === undefined || seat.board_id === board_id);
  return seat.board === board && seat.name === name;
}
