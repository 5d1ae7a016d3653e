/** The command of a notice. It comes from a server, so only known commands are shown to a session. */
import { lookIn } from '../../client/next-command.ts';
import { shellWord } from '../bundle/escape.ts';

/**
 * The command with `--server` of the seat's own server; null for any other text.
 *
 * @param on the flags that select the seat and its board
 */
export function allowedCommand(command: string, origin: string, on: string): string | null {
  const what = lookIn(command);
  if (what === null) return null;
  return `${what}${what.includes(' --board ') ? on.replace(/ --board \S+/, '') : on} --server ${shellWord(origin)}`;
}
