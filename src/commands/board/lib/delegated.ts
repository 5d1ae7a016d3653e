/** Lists, joins and creates boards from an agent session, through the daemon, which holds this machine's delegation. */
import { runtime } from '../../../cli/runtime.ts';
import { askFor } from '../../../cli/session/ask-daemon.ts';
import { linkedBoard, type ServerInUse } from '../../../cli/session/board.ts';
import { inSession, sessionHere } from '../../../cli/session/here.ts';
import { sayServer, useLocalServer } from '../../../cli/session/local-server.ts';
import type { SessionChoice } from '../../../cli/session/open-session.ts';
import { savedSeat, sessionSeats } from '../../../cli/session/own-seats.ts';
import { newIdempotencyKey } from '../../../client/idempotency.ts';
import type { Board, BodyIn, Member } from '../../../contract/types.ts';
import type { AgentRef, Answers } from '../../../daemon/protocol.ts';
import type { SessionHere } from '../../../harness/detect.ts';
import { environmentToken } from '../../../local/actors.ts';
import { Failure } from '../../../local/failure.ts';
import { noteHolder, readCredentials } from '../../../local/keys/credentials.ts';
import { findProject, projectContent } from '../../../local/project.ts';
import { personServer } from '../../../local/servers.ts';
import { type Use, useOf } from '../../agent/lib/new-seat.ts';
import { type Agreed, agreedOf } from '../../join/lib/join-summary.ts';
import type { BoardListRecord } from './list.ts';

/** Where a session finds boards. */
export interface Delegated extends ServerInUse {
  session: SessionHere;
}

/**
 * The session that the command runs in; null in a terminal, and where a seat or a credential is named, which may do less.
 * @throws Failure `agent_session_required` in a program that does not say which session it is.
 */
export function delegatingSession({ as }: { as?: string | undefined }, line: string): SessionHere | null {
  if (as || environmentToken(runtime().env)) return null;
  const session = sessionHere();
  if (session || !inSession()) return session;
  throw new Failure('agent_session_required', 'This program does not say which session runs the command.', {
    hint: `Set it up with service init, or ask your person to run: ${line}`,
  });
}

/** The server as a person would have it chosen; first comes the one at which the session has its seats. */
export async function delegatedTo(session: SessionHere, choice: SessionChoice): Promise<Delegated> {
  const { env, folders } = runtime();
  const saved = readCredentials(folders);
  const own = [...new Set((await sessionSeats()).map(({ origin }) => origin))];
  const named = choice.server ?? (env.SERVICE_SERVER || (own.length === 1 ? own[0] : undefined));
  const server = personServer({ named, project: findProject() }, saved, folders, env);
  if (choice.autostart) sayServer(server, saved, choice.out);
  const reached = server.local ? await useLocalServer(server, choice) : server;
  choice.out.base.server = { name: reached.name, url: reached.origin };
  return { session, server: { name: reached.name, url: reached.origin, local: server.local }, entry: reached.entry };
}

/** The boards the session's person is on, with the session's own seat on each. */
export async function readBoardsHere(delegated: Delegated, archived: boolean): Promise<BoardListRecord> {
  const record: BoardListRecord = { boards: [], hidden_boards: [], archived_count: 0 };
  const { session, server } = delegated;
  const linked = linkedBoard(delegated, projectContent(findProject()));
  const lifecycle = archived ? 'archived' : 'active';
  for (let after: string | undefined; ; ) {
    const page = await askFor(session, 'boards', {
      server: server.url,
      lifecycle,
      limit: 200,
      ...(after ? { after } : {}),
    });
    const { boards = [] } = page;
    record.boards.push(...boards.map((board) => ({ ...board, linked: board.name === linked || board.id === linked })));
    record.archived_count = page.archived_count ?? record.archived_count;
    if (!page.next_after) return record;
    after = page.next_after;
  }
}

export interface SeatedRecord extends Agreed {
  board_record: Board;
  agent: Member;
  use: Use;
  reused?: boolean;
  /** The seat that this session held on the board before. */
  previous?: AgentRef;
  /** The role of the next agent, where the board was made for two. */
  pair_role?: string;
}

/** A seat on a board that is there: by the board, or by a code, which brings board and role. */
export interface SeatOptions {
  board?: string | undefined;
  role?: string | undefined;
  code?: string | undefined;
  name?: string | undefined;
  key?: string | undefined;
}

/** A seat for this session on a board that is there. */
export async function joinHere(
  delegated: Delegated,
  { board, role, code, name, key }: SeatOptions,
): Promise<SeatedRecord> {
  const { session, server } = delegated;
  const agent = { server: server.url, ...(board ? { board } : {}), ...(name ? { name } : {}) };
  const by = code ? { code, idempotency_key: key ?? newIdempotencyKey() } : role ? { role } : {};
  return seated(delegated, await askFor(session, 'join', { agent, ...by }));
}

interface NewBoard {
  create: BodyIn<'createBoard'>;
  pair?: boolean;
  name?: string | undefined;
  key: string | undefined;
  /** Flags that keep a further command at the server that was named. */
  at: string;
}

/** A new board with a seat for this session. The daemon repeats it safely; this program never does. */
export async function createHere(delegated: Delegated, options: NewBoard): Promise<SeatedRecord> {
  const { session, server } = delegated;
  const answer = await askFor(session, 'create_board', {
    server: server.url,
    create: options.create,
    ...(options.pair ? { pair: true } : {}),
    ...(options.name ? { agent_name: options.name } : {}),
    idempotency_key: options.key ?? newIdempotencyKey(),
  }).catch((error: unknown) => {
    throw mayExist(error, server.url, options.at);
  });
  return seated(delegated, answer);
}

/** A daemon that went away before it answered leaves open whether the board is there. */
function mayExist(error: unknown, server: string, at: string): unknown {
  if (!(error instanceof Failure) || !['daemon_stopping', 'request_timeout'].includes(error.code)) return error;
  const message = `The delivery daemon went away before it said whether ${server} has made the board.`;
  return new Failure('server_unreachable', message, {
    hint: `Look before you try again: service boards${at}; then join it: service join --board NAME${at}`,
  });
}

/** What the daemon saved is this session's from now on, also for commands that run while it is away. */
async function seated(
  { session, server }: Delegated,
  { board, member, reused, previous, pair_role }: Answers['join'],
): Promise<SeatedRecord> {
  const seat = savedSeat(server.url, member.id);
  if (seat) await noteHolder(runtime().folders, seat, session.key);
  return {
    board_record: board,
    agent: member,
    use: { ...useOf(member), bound_session: session.key },
    ...agreedOf(board, member),
    ...(reused ? { reused } : {}),
    ...(previous ? { previous } : {}),
    ...(pair_role ? { pair_role } : {}),
  };
}
