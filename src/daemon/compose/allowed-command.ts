/** The command of a notice. It comes from a server, so only known commands are shown to a session. */
import { shellWord } from '../bundle/escape.ts';

const commands =
  /^service (approvals show apr_[0-9A-HJKMNP-TV-Z]{26}|pairing list(?: --state all)?|task show [A-Z][A-Z0-9]{1,5}-[1-9][0-9]{0,8} --board [a-z0-9][a-z0-9-]{0,38}[a-z0-9]|members --board [a-z0-9][a-z0-9-]{0,38}[a-z0-9]|people show [a-z0-9]+(?:-[a-z0-9]+)*)(?: --server \S+)?$/;

/**
 * The command with `--server` of the seat's own server; null for any other text.
 *
 * @param on the flags that select the seat and its board
 */
export function allowedCommand(command: string, origin: string, on: string): string | null {
  const [, what] = commands.exec(command) ?? [];
  if (what === undefined) return null;
  return `service ${what}${what.includes(' --board ') ? on.replace(/ --board \S+/, '') : on} --server ${shellWord(origin)}`;
}
