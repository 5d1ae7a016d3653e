/** Identifies whose notes of downloaded versions a command reads and writes. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { keepNote } from '../../../cli/local-note.ts';
import { runtime } from '../../../cli/runtime.ts';
import { type BoardSession, whoActs } from '../../../cli/session/open-session.ts';
import type { ClientError } from '../../../client/errors.ts';
import { serverInfo } from '../../../client/features.ts';
import type { Board, BoardFile, FileToAttach } from '../../../contract/types.ts';
import { type FileScope, type Remembered, remember, rememberedAt } from '../../../local/remembered-files.ts';
import { fileNamed } from './names.ts';

export interface Files {
  session: BoardSession;
  scope: FileScope;
  board: Board;
}

/** Reads what the notes are kept under; the board comes with it. */
export async function filesOf(session: BoardSession): Promise<Files> {
  const { client, entry } = session;
  const { data: board } = await client.call('getBoard', { params: { board: session.board } });
  const serverId = entry?.server_id ?? (await serverInfo(client)).server_id;
  const { id: actorId } = await whoActs(session);
  return { session, board, scope: { serverId, actorId, boardId: board.id } };
}

export const notedAt = ({ scope }: Files, path: string): Remembered | null =>
  rememberedAt(runtime().folders, scope, resolve(path));

/** Notes which version a file here is, after it was got or put. */
export function note({ scope, session }: Files, path: string, entry: Omit<Remembered, 'at'>): Promise<void> {
  const noted = remember(runtime().folders, scope, resolve(path), { ...entry, at: new Date().toISOString() });
  const lost = `${path} is ${entry.name} v${entry.version}, which could not be noted for the next file put`;
  return keepNote(noted, session.choice.out, lost);
}

/** The file that has a name now; null where none has. */
export const fileCalled = ({ session: { client, board } }: Files, name: string): Promise<BoardFile | null> =>
  client.call('getFile', { params: { board, file: name } }).then(
    ({ data }) => data,
    (error: ClientError) => {
      if (error.code === 'file_not_found') return null;
      throw error;
    },
  );

/**
 * A file as it was named to go with a message: a path on the board or an id, else the path here that it was put from or got
 * as, which is its path on the board only where that was said.
 */
export async function fileToAttach(session: BoardSession, text: string): Promise<FileToAttach> {
  const named = fileNamed(text);
  if (!existsSync(named.file)) return named;
  const files = await filesOf(session);
  const noted = notedAt(files, named.file);
  if (!noted || noted.name === named.file || (await fileCalled(files, named.file))) return named;
  return { ...named, file: noted.file_id };
}
