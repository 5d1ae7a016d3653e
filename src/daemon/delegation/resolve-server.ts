/** Resolves the server that a session's request is about, and the session's seat there. */
import type { Env, Folders } from '../../local/folders.ts';
import { namedServer, usualServer } from '../../local/servers.ts';
import type { SeatIdentity, SessionView } from '../refs.ts';
import type { CredentialStore } from '../server-link/credentials.ts';
import { asRefusal } from './refusals.ts';

/**
 * The named server, else the one server of the session's seats, else the usual one of its person.
 *
 * @throws ControlRefusal `server_unknown`, `credentials_unsafe`
 */
export function resolveServer(
  { credentials, folders, env }: { credentials: CredentialStore; folders: Folders; env: Env },
  named: string | undefined,
  session: SessionView,
): string {
  try {
    const saved = credentials.saved();
    const [only, another] = new Set(session.seats.map(({ origin }) => origin));
    if (!named && only !== undefined && another === undefined) return only;
    const { origin } = named ? namedServer(named, saved, folders, env) : usualServer(saved, folders, env);
    return credentials.server(origin)?.origin ?? origin;
  } catch (error) {
    throw asRefusal(error, '');
  }
}

/** The session's seat on a board, by whichever address of the server it was taken. */
export const seatOn = (
  credentials: CredentialStore,
  { seats }: SessionView,
  { origin, boardId }: { origin: string; boardId: string },
): SeatIdentity | undefined =>
  seats.find((seat) => seat.board_id === boardId && credentials.isSame(seat.origin, origin));
