/** The command of a notice. It comes from a server, so only known commands are shown to a session. */
import { lookIn } from '../../client/next-command.ts';
import { shellWord } from '../bundle/escape.ts';

/**
 * The command with `--server` of the seat's own server; null for any other text, or where there is none.
 *
 * @param on the flags that select the seat and its board
 */
export function allowedCommand(next: { command: string } | undefined, origin: string, on: string): string | null {
  const what = next ? lookIn(next.command) : null;
  if (what === null) return null;
  return `${what}${what.includes(' --board ') ? on.replace(/ --board \S+/, '') : on} --server ${shellWord(origin)}`;
}
