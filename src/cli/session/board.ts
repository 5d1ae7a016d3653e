/** Resolves which board a command is about. */
import { unexpected } from '../../client/errors.ts';
import { idPattern } from '../../contract/ids.ts';
import { Failure } from '../../local/failure.ts';
import { canonicalOrigin } from '../../local/origin.ts';
import type { Output } from '../output.ts';
import { runtime } from '../runtime.ts';
import { type Session, stayingAt } from './open-session.ts';

export type BoardSource = 'flag' | 'env' | 'project_file' | 'only' | 'agent' | 'none';

/**
 * The board by name, also where it was named by its id, and where the choice came from. An agent's is its own; a
 * person's is never a forgotten default. @param named the board that another argument of the person names
 */
export async function chooseBoard(
  session: Session,
  out: Output,
  named?: string,
): Promise<{ name: string; source: BoardSource }> {
  const { name: chosen, source } = session.agent ? await agentBoard(session) : await personBoard(session, named);
  const name = brdId.test(chosen) ? await nameOf(session, chosen) : chosen;
  out.base.board = name;
  return { name, source };
}

const brdId = idPattern('brd');

/** A board that is not shown keeps its id: an admin may still end it. */
async function nameOf({ client, seat }: Session, id: string): Promise<string> {
  if (seat?.saved.board_id === id) return seat.saved.board;
  try {
    const { data } = await client.call('getBoard', { params: { board: id } });
    if (data.id === id) return data.name;
    throw unexpected('The server answers with another board than the one that was named by its id.');
  } catch (error) {
    if ((error as { code?: unknown }).code === 'board_not_found') return id;
    throw error;
  }
}

async function agentBoard(session: Session): Promise<{ name: string; source: BoardSource }> {
  const { env } = runtime();
  if (session.choice.board) return { name: session.choice.board, source: 'flag' };
  if (session.seat) return { name: session.seat.saved.board, source: 'agent' };
  if (env.SERVICE_BOARD) return { name: env.SERVICE_BOARD, source: 'env' };
  const { data } = await session.client.call('getMe');
  if (data.board) return { name: data.board, source: 'agent' };
  throw notSelected([], session);
}

async function personBoard(session: Session, named?: string): Promise<{ name: string; source: BoardSource }> {
  const { env } = runtime();
  const given = session.choice.board ?? named;
  if (given) return { name: given, source: 'flag' };
  if (env.SERVICE_BOARD) return { name: env.SERVICE_BOARD, source: 'env' };
  const linked = linkedBoard(session, session.project);
  if (linked !== null) return { name: linked, source: 'project_file' };
  const { data } = await session.client.call('listBoards');
  const mine = data.boards.filter((board) => board.on_board);
  if (mine.length === 1) return { name: mine[0]!.name, source: 'only' };
  throw notSelected(
    mine.map((board) => board.name),
    session,
  );
}

/** The board this folder is linked to, if it is one of the server in use. */
export const linkedBoard = (at: ServerInUse, project: { server: string; board: string } | null): string | null =>
  project && sameServer(project.server, at) ? project.board : null;

/** The server that a command talks to, and what is saved about it. */
export type ServerInUse = Pick<Session, 'server' | 'entry'>;

/** Whether an address, or `local`, is that of the server in use. */
export function sameServer(named: string, { server, entry }: ServerInUse): boolean {
  if (named === 'local') return server.local;
  const origin = canonicalOrigin(named);
  // This machine's own server may have been at another address when the folder was linked.
  return origin === server.url || (server.local && entry?.urls?.includes(origin) === true);
}

function notSelected(choices: string[], session: Session): Failure {
  const at = stayingAt(session);
  if (choices.length === 0)
    return new Failure('board_not_selected', 'No board is selected, and you are on none.', {
      hint: `Create one: service board create general${at}`,
      details: { choices },
    });
  return new Failure('board_not_selected', `No board is selected; you are on ${choices.join(', ')}.`, {
    hint: `Name one with --board ${choices[0]}, or link this folder: service board link ${choices[0]}${at}`,
    details: { choices },
  });
}
