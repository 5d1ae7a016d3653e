/** The line that brings an agent onto a board: the server writes it, people pass it on, the client finds it in a text. */

export interface JoinLine {
  board: string;
  /** The address of the server, such as `http://127.0.0.1:7400` or `https://boards.example.com`. */
  origin: string;
  /** A role of the board, or `guest` for a guest code. Only for people to read: the server takes role and board from the code. */
  role: string;
  /** `XXX-XXX`, as it was written. */
  code: string;
}

/** The port on which local servers listen by default. */
const LOCAL_PORT = '7400';

/** `Join service board <board> on <server> as <role> with code <XXX-XXX>`. */
export function writeJoinLine({ board, origin, role, code }: JoinLine): string {
  return `Join service board ${board} on ${serverName(origin)} as ${role} with code ${code}`;
}

/** A local server, the only one without https, is called `localhost`, every other by its host; usual ports are left out. */
function serverName(origin: string): string {
  const { protocol, host, port } = new URL(origin);
  if (protocol === 'https:') return host;
  return port === LOCAL_PORT ? 'localhost' : `localhost:${port || '80'}`;
}

const line =
  /join service board ([a-z0-9-]+) on ([a-z0-9.:[\]-]+?) as ([a-z0-9-]+) with code ([0-9a-z]{3}[- ]?[0-9a-z]{3})\b/i;

/** The first join line in a text; null if there is none, or if it names an invalid server address. */
export function readJoinLine(text: string): JoinLine | null {
  const [, board, server, role, code] = line.exec(text) ?? [];
  if (board === undefined || server === undefined || role === undefined || code === undefined) return null;
  const origin = originOf(server.toLowerCase());
  return origin === null ? null : { board: board.toLowerCase(), origin, role: role.toLowerCase(), code };
}

function originOf(server: string): string | null {
  const local = /^localhost(?::(\d+))?$/.exec(server);
  const url = local ? `http://127.0.0.1:${local[1] ?? LOCAL_PORT}` : `https://${server}`;
  return URL.canParse(url) ? new URL(url).origin : null;
}
