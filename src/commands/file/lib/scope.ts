/** Identifies whose notes of downloaded versions a command reads and writes. */
import { resolve } from 'node:path';
import { runtime } from '../../../cli/runtime.ts';
import type { BoardSession } from '../../../cli/session/open-session.ts';
import { serverInfo } from '../../../client/features.ts';
import type { Board } from '../../../contract/types.ts';
import { type FileScope, type Remembered, remember, rememberedAt } from '../../../local/remembered-files.ts';

export interface Files {
  session: BoardSession;
  scope: FileScope;
  board: Board;
}

/** Reads what the notes are kept under; the board comes with it. */
export async function filesOf(session: BoardSession): Promise<Files> {
  const { client, entry, choice } = session;
  const { data: board } = await client.call('getBoard', { params: { board: session.board } });
  const serverId = entry?.server_id ?? (await serverInfo(client)).server_id;
  const actorId = choice.out.base.actor?.id ?? (await client.call('getMe')).data.id;
  return { session, board, scope: { serverId, actorId, boardId: board.id } };
}

export const notedAt = ({ scope }: Files, path: string): Remembered | null =>
  rememberedAt(runtime().folders, scope, resolve(path));

export const note = ({ scope }: Files, path: string, entry: Omit<Remembered, 'at'>): Promise<void> =>
  remember(runtime().folders, scope, resolve(path), { ...entry, at: new Date().toISOString() });
