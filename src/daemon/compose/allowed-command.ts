/** The command of a notice. A server proposes it, so only known commands are passed on to a session as ours. */
import { shellWord } from '../bundle/escape.ts';

/** What notices have: a decision to look at, work proposed to an agent, a task, a board with somebody new on it, a person. */
const commands =
  /^service (approvals show apr_[0-9A-HJKMNP-TV-Z]{26}|pairing list|task show [A-Z][A-Z0-9]{1,5}-[1-9][0-9]{0,8} --board [a-z0-9][a-z0-9-]{0,38}[a-z0-9]|members --board [a-z0-9][a-z0-9-]{0,38}[a-z0-9]|people show [a-z0-9]+(?:-[a-z0-9]+)*)(?: --server \S+)?$/;

/** The same command at the seat's own server, whichever the server named; null for any other text. */
export function allowedCommand(command: string, origin: string): string | null {
  const [, what] = commands.exec(command) ?? [];
  return what === undefined ? null : `service ${what} --server ${shellWord(origin)}`;
}
