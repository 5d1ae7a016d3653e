/** Resolves the server that a session's request is about, and the session's seat there. */
import type { Env, Folders } from '../../local/folders.ts';
import { namedServer, usualServer } from '../../local/servers.ts';
import { ControlRefusal } from '../control/errors.ts';
import type { SeatIdentity, SessionView } from '../refs.ts';
import type { CredentialStore } from '../server-link/credentials.ts';
import { asRefusal } from './refusals.ts';

/**
 * The named server, else the one server of the session's seats, else the default.
 *
 * @throws ControlRefusal `server_unknown`, `server_not_selected`, `credentials_unsafe`
 */
export function resolveServer(
  { credentials, folders, env }: { credentials: CredentialStore; folders: Folders; env: Env },
  named: string | undefined,
  session: SessionView,
): string {
  try {
    const saved = credentials.saved();
    const originOf = (name: string): string => {
      const { origin } = namedServer(name, saved, folders, env);
      return credentials.server(origin)?.origin ?? origin;
    };
    if (named) return originOf(named);
    const [only, another] = new Set(session.seats.map(({ origin }) => origin));
    if (only !== undefined && another === undefined) return only;
    if (saved.default) return originOf(usualServer(saved, folders, env).origin);
    const known = credentials.origins();
    if (known.length === 1) return known[0]!.origin;
    throw new ControlRefusal('server_not_selected', 'Several servers are known and none is the default.', {
      hint: 'Name one with --server',
      details: { choices: known.map(({ origin }) => origin) },
    });
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
