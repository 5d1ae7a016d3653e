/** The agent that a person's command is about. */
import { runtime } from '../../../cli/runtime.ts';
import { readCredentials } from '../../../local/keys/credentials.ts';
import { agentMeant } from './midturn.ts';

interface Globals {
  board?: string | undefined;
  server?: string | undefined;
}

/**
 * Turns the name of an agent into its server and board, and answers by what it goes there: its id where this
 * machine holds its seat, else the name, on the board that is in use.
 */
export function agentNamed(as: string, globals: Globals): string {
  const [name = '', board] = as.replace(/^@/, '').split('@', 2);
  if (!holdsSeat(name)) {
    globals.board ??= board;
    return name;
  }
  const seat = agentMeant(as, globals.board);
  globals.server ??= seat.entry.mode === 'local' ? 'local' : seat.origin;
  globals.board ??= seat.saved.board;
  return seat.memberId;
}

const holdsSeat = (nameOrId: string): boolean =>
  Object.values(readCredentials(runtime().folders).servers).some(({ seats }) =>
    Object.entries(seats).some(([id, seat]) => seat.token !== undefined && (id === nameOrId || seat.name === nameOrId)),
  );
